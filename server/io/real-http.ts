/** HTTP for the monitoring port, plain or encrypted: whole requests in, whole responses out. */

import type http from 'node:http';
import type { Address, HttpHandler, Listener, TlsContext } from './io.ts';
import { RealListener } from './real-listener.ts';

export function serveHttp(address: Address, handler: HttpHandler): Listener {
  // Loaded on first use: most starts inside tests have no monitoring port.
  const { createServer } = process.getBuiltinModule('node:http');
  return serve(createServer(answering(handler)), address, handler);
}

/** `context` is asked when somebody connects, so that a changed certificate is shown from then on. */
export function serveHttps(address: Address, context: () => TlsContext, handler: HttpHandler): Listener {
  const { createServer } = process.getBuiltinModule('node:https');
  const apply = (): TlsContext => {
    const now = context();
    const { certificates, minVersion, ciphers, curves } = now.settings;
    server.setSecureContext({
      cert: certificates.map(({ certificate }) => certificate),
      key: certificates.map(({ key }) => key),
      minVersion,
      ciphers: ciphers.join(':'),
      ecdhCurve: curves.join(':'),
    });
    return now;
  };
  const server = createServer({}, answering(handler));
  let current = apply();
  server.prependListener('connection', () => {
    if (context() !== current) current = apply();
  });
  return serve(server, address, handler);
}

function answering(handler: HttpHandler): http.RequestListener {
  return (request, response) => {
    const { method = 'GET', url = '/', headers } = request;
    request.resume();
    handler.request({ method, url, headers }, ({ status, headers: fields, body }) => {
      response.writeHead(status, fields);
      response.end(method === 'HEAD' ? undefined : body);
    });
  };
}

function serve(server: http.Server, address: Address, handler: HttpHandler): Listener {
  const listener = new RealListener(server, address, handler);
  return {
    close: (done) => {
      listener.close(done);
      server.closeAllConnections();
    },
  };
}
