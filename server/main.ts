/**
 * The program: from the command line to a running server, and from signals to its end. The only file that takes signals
 * or exits.
 *
 * Exit codes as nats-server's: 0 after INT or TERM and after a lame duck, 1 when it can't start.
 */

import fs from 'node:fs';
import path from 'node:path';
import { interpretCommandLine, reloadOptions } from './config/load.ts';
import type { ServerOptions } from './config/options.ts';
import { changedOptions, reloadRefusal } from './config/reload.ts';
import { diskSources } from './config/sources.ts';
import { LogFile, type ReopenableSink, standardErrorSink } from './io/log-sinks.ts';
import { Log, type LogOptions } from './io/log.ts';
import { signalProcesses } from './io/processes.ts';
import { realIo } from './io/real-io.ts';
import { loadRooms, type Rooms } from './rooms.ts';
import { Server } from './server.ts';

const PROGRAM = 'nats-server';
const PID_MODE = 0o600;
/** With less CPU time used in such a while the server counts as idle. */
const IDLE_MS = 700;
const IDLE_CPU_SECONDS = 0.005;

// Until somebody listens for this signal the runtime opens its debugger on it.
let reopenLog = (): void => undefined;
process.on('SIGUSR1', () => reopenLog());

const io = realIo();
const args = process.argv.slice(2);
const sources = diskSources(io.disk, io.host.environment);
const outcome = interpretCommandLine(args, sources);
if (outcome.kind === 'exit') {
  if (outcome.stdout !== '') fs.writeSync(process.stdout.fd, outcome.stdout);
  if (outcome.stderr !== '') fs.writeSync(process.stderr.fd, outcome.stderr);
  process.exit(outcome.code);
}
if (outcome.kind === 'signal') {
  const { command, signal } = outcome.signal;
  const failure = signalProcesses(processName(), command, signal, outcome.signal);
  if (failure !== null) fs.writeSync(process.stderr.fd, `${PROGRAM}: ${failure}\n`);
  process.exit(failure === null ? 0 : 1);
}
if (outcome.stderr !== '') fs.writeSync(process.stderr.fd, outcome.stderr);
const { options } = outcome;
void loadRooms(options).then((rooms) => run(options, rooms));

function run(options: ServerOptions, rooms: Rooms): void {
  nameProcess();
  const sink = openSink(options);
  const log = new Log(sink.write, io.clock, process.pid, logOptionsOf(options));
  if (sink instanceof LogFile) tellOfRotation(sink, log);
  const server = makeServer(options, rooms, log);
  const portsFile = portsFileOf(options);
  takeSignals(server, sink, log, portsFile);
  if (options.pidFile !== '') writeOrFail(log, 'pidfile', options.pidFile, String(process.pid), PID_MODE);
  server.start((error) => {
    if (error !== null) fail(log, error.message);
    if (portsFile !== null) writeOrFail(log, 'ports file', portsFile, portsText(server), 0o666);
    shrinkWhenIdle(io.host.cpuSeconds());
  });
}

function logOptionsOf(options: ServerOptions): LogOptions {
  const { debug, trace, logTime: time, logTimeUtc: utc, logFormat } = options;
  return { debug, trace, time, utc, json: logFormat === 'json' };
}

function tellOfRotation(file: LogFile, log: Log): void {
  file.events = {
    rotated: (backup) => log.notice(`Rotated log, backup saved as ${JSON.stringify(backup)}`),
    purged: (backup) => log.notice(`Purged log file ${JSON.stringify(backup)}`),
    failed: (what) => log.error(what),
  };
}

/** Starting leaves the heap larger than serving needs: it is made small once, as soon as nothing goes on for a while. */
function shrinkWhenIdle(cpuSecondsBefore: number): void {
  io.timers.after(IDLE_MS, () => {
    const now = io.host.cpuSeconds();
    if (now - cpuSecondsBefore < IDLE_CPU_SECONDS) io.host.shrinkHeap();
    else shrinkWhenIdle(now);
  });
}

function makeServer(options: ServerOptions, rooms: Rooms, log: Log): Server {
  try {
    return new Server(io, log, options, rooms);
  } catch (error) {
    fail(log, (error as Error).message);
  }
}

function takeSignals(server: Server, sink: ReopenableSink, log: Log, portsFile: string | null): void {
  const exit = (): void => {
    if (portsFile !== null) fs.rmSync(portsFile, { force: true });
    process.exit(0);
  };
  process.on('SIGINT', () => {
    log.notice('Trapped "interrupt" signal');
    server.close(exit);
  });
  process.on('SIGTERM', () => {
    log.notice('Trapped "terminated" signal');
    if (!server.isLameDuck) server.close(exit);
  });
  process.on('SIGUSR2', () => {
    log.notice('Trapped "user defined signal 2" signal');
    server.drain(exit);
  });
  process.on('SIGHUP', () => {
    log.notice('Trapped "hangup" signal');
    reload(server, log);
  });
  reopenLog = () => {
    log.notice('Trapped "user defined signal 1" signal');
    if (sink.reopen()) log.notice('File log re-opened');
    else log.notice('File log re-open ignored, not a file logger');
  };
}

/** Reads the configuration again. So far only one without changes is taken; what differs is named. */
function reload(server: Server, log: Log): void {
  try {
    const changes = changedOptions(server.options, reloadOptions(args, sources));
    const refusal = reloadRefusal(changes, () => false);
    if (refusal === null) log.notice(`Reloaded server configuration (${server.options.configDigest})`);
    else log.error(`Failed to reload server configuration: ${refusal}`);
  } catch (error) {
    log.error(`Failed to reload server configuration: ${(error as Error).message}`);
  }
}

function openSink(options: ServerOptions): ReopenableSink {
  if (options.logFile === '') return standardErrorSink();
  try {
    return new LogFile(options.logFile, { bytesMax: options.logSizeLimitBytes, filesMax: options.logFilesMax });
  } catch (error) {
    fs.writeSync(process.stderr.fd, `${PROGRAM}: error opening logfile: ${(error as Error).message}\n`);
    process.exit(1);
  }
}

function writeOrFail(log: Log, what: string, file: string, text: string, mode: number): void {
  try {
    fs.writeFileSync(file, text, { mode });
  } catch (error) {
    fail(log, `Could not write ${what}: ${(error as Error).message}`);
  }
}

function portsFileOf(options: ServerOptions): string | null {
  if (options.portsFileDirectory === '') return null;
  return path.join(options.portsFileDirectory, `${path.basename(process.argv0)}_${process.pid}.ports`);
}

/** The ports file's JSON: the URLs under which each kind of listener can be reached. */
function portsText(server: Server): string {
  const ports: Record<string, string[]> = {};
  if (server.clientAddress !== null) ports['nats'] = urls('nats', server.clientAddress.host, server.clientAddress.port);
  const monitor = server.monitor?.address ?? null;
  if (monitor !== null) ports['monitoring'] = urls('http', monitor.host, monitor.port);
  return JSON.stringify(ports);
}

function urls(scheme: string, host: string, port: number): string[] {
  const hosts = host === '0.0.0.0' || host === '::' ? io.host.addresses() : [host];
  return hosts.map((each) => `${scheme}://${each.includes(':') ? `[${each}]` : each}:${port}`);
}

/** What processes of this program are called. Run by a bare runtime they are found by pid file only. */
function processName(): string {
  const name = path.basename(process.argv0);
  return name === 'node' ? PROGRAM : name;
}

/** Tools look for the process by the name of its program; the runtime calls its main thread otherwise. */
function nameProcess(): void {
  try {
    fs.writeFileSync('/proc/self/comm', path.basename(process.argv0));
  } catch (error) {
    // Without /proc there is nothing to be found by.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

function fail(log: Log, message: string): never {
  log.fatal(message);
  process.exit(1);
}
