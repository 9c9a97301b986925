/** /raftz: the groups of servers that agree by Raft. This server is in none, which is an answer of its own. */

import type { HttpResponse } from '../io/io.ts';
import { textResponse } from './endpoint.ts';

export function raftz(): HttpResponse {
  return textResponse(404, 'No Raft nodes registered');
}
