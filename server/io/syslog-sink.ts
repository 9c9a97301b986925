/**
 * A syslog server as the place where log lines go, over UDP, TCP or a socket of the file system, in the form of nats-server:
 *
 *     <5>2026-11-30T09:10:21Z gateway nats-server[4711]: Server is ready
 *
 * Nobody waits for it. While the server can't be reached over TCP, as many lines as fit KEPT_BYTES_MAX wait in the socket,
 * which is dialled again with the next line a second after it was lost; lines that find no room are dropped. What went wrong
 * is said once on standard error, until lines go out again.
 */

import type net from 'node:net';
import { hostname } from 'node:os';
import type { ReopenableSink } from './log-sinks.ts';

const KEPT_BYTES_MAX = 1024 * 1024;
const REDIAL_MS = 1_000;
const NOTICE = 5;
/** By the labels of lines. */
const SEVERITIES: Readonly<Record<string, number | undefined>> = { DBG: 7, TRC: 5, INF: 5, WRN: 4, ERR: 3, FTL: 2 };
/** A line as text: what stands in front of the label is told by the system log itself. */
const TEXT_LINE = /^\[\d+\] (?:[\d/]+ [\d:.]+ )?\[([A-Z]{3})\] (.*)$/s;
const JSON_LABEL = /"level":"([A-Z]{3})"/;

export interface SyslogAddress {
  readonly network: 'udp' | 'tcp' | 'unix';
  /** The path, if the network is `unix`. */
  readonly host: string;
  readonly port: number;
}

interface Wire {
  send(line: string): void;
  close(): void;
}

export class SyslogSink implements ReopenableSink {
  private readonly wire: Wire;
  private readonly tag: string;
  private isTold = false;

  constructor(address: SyslogAddress, program: string) {
    const { host, port } = address;
    this.tag = `${hostname()} ${program}[${process.pid}]`;
    const failed = (error: Error): void => this.failed(error);
    const reached = (): void => {
      this.isTold = false;
    };
    this.wire = address.network === 'udp' ? udpWire(host, port, failed) : streamWire(address, failed, reached);
  }

  readonly write = (line: string): void => {
    const whole = line.trimEnd();
    const [, label, text] = TEXT_LINE.exec(whole) ?? [];
    const severity = SEVERITIES[label ?? JSON_LABEL.exec(whole)?.[1] ?? ''] ?? NOTICE;
    const moment = `${new Date().toISOString().slice(0, 19)}Z`;
    this.wire.send(`<${severity}>${moment} ${this.tag}: ${text ?? whole}\n`);
  };

  reopen(): boolean {
    return false;
  }

  close(): void {
    this.wire.close();
  }

  private failed(error: Error): void {
    if (this.isTold) return;
    this.isTold = true;
    process.stderr.write(`error connecting to syslog: ${error.message}\n`);
  }
}

function udpWire(host: string, port: number, failed: (error: Error) => void): Wire {
  const { createSocket } = process.getBuiltinModule('node:dgram');
  const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
  socket.on('error', failed);
  socket.unref();
  return {
    send: (line) => {
      socket.send(line, port, host, (error) => {
        if (error !== null) failed(error);
      });
    },
    close: () => socket.close(),
  };
}

function streamWire(address: SyslogAddress, failed: (error: Error) => void, reached: () => void): Wire {
  const { connect } = process.getBuiltinModule('node:net');
  let socket: net.Socket | null = null;
  let redialMs = 0;
  const dial = (): net.Socket => {
    const { network, host, port } = address;
    const dialled = network === 'unix' ? connect({ path: host }) : connect({ host, port });
    dialled.on('connect', reached);
    dialled.on('error', failed);
    dialled.on('close', () => {
      if (socket === dialled) socket = null;
      redialMs = performance.now() + REDIAL_MS;
    });
    dialled.resume();
    dialled.unref();
    return dialled;
  };
  return {
    send: (line) => {
      if (socket === null && performance.now() >= redialMs) socket = dial();
      if (socket !== null && socket.writableLength < KEPT_BYTES_MAX) socket.write(line);
    },
    close: () => {
      const last = socket;
      socket = null;
      last?.end();
    },
  };
}
