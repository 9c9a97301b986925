/**
 * A listener on a socket of the file system (AF_UNIX). The file is made with the permissions asked for and goes with the
 * listener. One that an earlier process left behind is taken over; one that still answers is not.
 */

import fs from 'node:fs';
import net from 'node:net';
import type { IoError, ListenHandler, Listener } from './io.ts';
import { openWrapped } from './real-runtime-socket.ts';

export function listenOnPath(path: string, mode: number, handler: ListenHandler): Listener {
  const server = net.createServer({ allowHalfOpen: true });
  let isClosed = false;
  let hasTakenOver = false;
  server.on('connection', (socket) => openWrapped(socket, handler));
  server.on('listening', () => {
    if (isClosed) {
      server.close();
      return;
    }
    try {
      fs.chmodSync(path, mode);
    } catch (error) {
      handler.failed(error as IoError);
      return;
    }
    handler.listening({ host: path, port: 0 });
  });
  server.on('error', (error: IoError) => {
    if (isClosed) return;
    if (error.code !== 'EADDRINUSE' || hasTakenOver) {
      handler.failed(error);
      return;
    }
    hasTakenOver = true;
    whetherDead(path, (isDead) => {
      if (isClosed) return;
      if (isDead) {
        fs.rmSync(path, { force: true });
        server.listen(path);
      } else handler.failed(error);
    });
  });
  server.listen(path);
  return {
    close: (done) => {
      isClosed = true;
      server.close();
      setImmediate(done);
    },
  };
}

/** Whether the file is a socket on which nobody listens. */
function whetherDead(path: string, done: (isDead: boolean) => void): void {
  if (fs.lstatSync(path, { throwIfNoEntry: false })?.isSocket() !== true) {
    done(false);
    return;
  }
  const probe = net.connect(path);
  probe.on('connect', () => {
    probe.destroy();
    done(false);
  });
  probe.on('error', (error: IoError) => done(error.code === 'ECONNREFUSED'));
}
