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
import { diskSources } from './config/sources.ts';
import { LogFile, LogDestination, type ReopenableSink, standardErrorSink } from './io/log-sinks.ts';
import { SyslogSink } from './io/syslog-sink.ts';
import { syslogAddress } from './config/syslog-address.ts';
import { Log } from './io/log.ts';
import { signalProcesses } from './io/processes.ts';
import { realIo } from './io/real-io.ts';
import { logOptionsOf, type ProcessFiles } from './reload.ts';
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
  const destination = new LogDestination(openSinkOrExit(options));
  const log = new Log(destination.write, io.clock, process.pid, logOptionsOf(options));
  tellOfRotation(destination.sink, log);
  const server = makeServer(options, rooms, log);
  const files = new Files(server, destination, log);
  server.process = files;
  server.reloadConfiguration = () => reloadFailure(server);
  takeSignals(server, destination, log, files);
  if (options.pidFile !== '') writeOrFail(log, 'pidfile', options.pidFile, String(process.pid), PID_MODE);
  server.start((error) => {
    if (error !== null) fail(log, error.message);
    files.portsFile = portsFileOf(options);
    if (files.portsFile !== null) writeOrFail(log, 'ports file', files.portsFile, portsText(server), 0o666);
    shrinkWhenIdle(io.host.cpuSeconds());
  });
}

function tellOfRotation(sink: ReopenableSink, log: Log): void {
  if (!(sink instanceof LogFile)) return;
  sink.events = {
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

/** Goes over to other log, pid and ports files when the configuration is loaded again. */
class Files implements ProcessFiles {
  portsFile: string | null = null;
  private readonly server: Server;
  private readonly destination: LogDestination;
  private readonly log: Log;

  constructor(server: Server, destination: LogDestination, log: Log) {
    this.server = server;
    this.destination = destination;
    this.log = log;
  }

  prepare(next: ServerOptions): () => void {
    const before = this.server.options;
    const isSame = next.logFile === before.logFile && next.remoteSyslog === before.remoteSyslog;
    const sink = isSame ? null : openSink(next);
    return () => {
      if (sink !== null) {
        tellOfRotation(sink, this.log);
        this.destination.goOver(sink);
      }
      if (next.pidFile !== before.pidFile && next.pidFile !== '')
        this.write('pidfile', next.pidFile, String(process.pid));
      if (next.portsFileDirectory !== before.portsFileDirectory) this.movePortsFile(portsFileOf(next));
    };
  }

  removePortsFile(): void {
    if (this.portsFile !== null) fs.rmSync(this.portsFile, { force: true });
  }

  private movePortsFile(file: string | null): void {
    this.removePortsFile();
    this.portsFile = file;
    if (file !== null) this.write('ports file', file, portsText(this.server));
  }

  private write(what: string, file: string, text: string): void {
    try {
      fs.writeFileSync(file, text, { mode: what === 'pidfile' ? PID_MODE : 0o666 });
    } catch (error) {
      this.log.error(`Could not write ${what}: ${(error as Error).message}`);
    }
  }
}

function takeSignals(server: Server, sink: ReopenableSink, log: Log, files: Files): void {
  const exit = (): void => {
    files.removePortsFile();
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
    const failure = reloadFailure(server);
    if (failure !== null) log.error(`Failed to reload server configuration: ${failure}`);
  });
  reopenLog = () => {
    log.notice('Trapped "user defined signal 1" signal');
    if (sink.reopen()) log.notice('File log re-opened');
    else log.notice('File log re-open ignored, not a file logger');
  };
}

/** Reads the configuration again and takes it on; why it can't, or null. */
function reloadFailure(server: Server): string | null {
  let next: ServerOptions;
  try {
    next = reloadOptions(args, sources);
  } catch (error) {
    return (error as Error).message;
  }
  return server.reload(next);
}

/** Throws when the file can't be opened. */
function openSink({ logFile, logSizeLimitBytes, logFilesMax, remoteSyslog }: ServerOptions): ReopenableSink {
  if (logFile === '') {
    const address = syslogAddress(remoteSyslog);
    return typeof address === 'string' ? standardErrorSink() : new SyslogSink(address, processName());
  }
  return new LogFile(logFile, { bytesMax: logSizeLimitBytes, filesMax: logFilesMax });
}

function openSinkOrExit(options: ServerOptions): ReopenableSink {
  try {
    return openSink(options);
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
  const { webSocketDoor } = server;
  const webSocket = webSocketDoor?.address ?? null;
  if (webSocketDoor !== null && webSocket !== null) {
    ports['websocket'] = urls(webSocketDoor.scheme, webSocket.host, webSocket.port);
  }
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
