/**
 * /stacksz: what the threads of the server are doing. One does everything, and that one is answering; the answer is its
 * stack. It is text, whatever its type says: nats-server calls its own JSON too.
 */

import type { HttpResponse } from '../io/io.ts';
import { jsonResponse } from './endpoint.ts';

export function stacksz(): HttpResponse {
  const { stack = '' } = new Error('main thread [running]');
  return jsonResponse(200, `${stack.replace('Error: ', '')}\n`);
}
