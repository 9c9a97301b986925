/** Plain HTTP for the monitoring port: whole requests in, whole responses out. */

import type { Address, HttpHandler, Listener } from './io.ts';
import { RealListener } from './real-listener.ts';

export function serveHttp(address: Address, handler: HttpHandler): Listener {
  // Loaded on first use: most starts inside tests have no monitoring port.
  const http = process.getBuiltinModule('node:http');
  const server = http.createServer((request, response) => {
    const { method = 'GET', url = '/', headers } = request;
    request.resume();
    handler.request({ method, url, headers }, ({ status, headers: fields, body }) => {
      response.writeHead(status, fields);
      response.end(method === 'HEAD' ? undefined : body);
    });
  });
  const listener = new RealListener(server, address, handler);
  return {
    close: (done) => {
      listener.close(done);
      server.closeAllConnections();
    },
  };
}
