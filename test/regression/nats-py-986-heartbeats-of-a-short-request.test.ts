/** nats-io/nats.py#986: a request whose heartbeats are further apart than half its time is a bad one. */
import { describePullTalks } from '../helpers/pull-talk.ts';

describePullTalks('a request with heartbeats', [
  [
    'ends at once if it would hear but one',
    `consumer C
     pull C {"expires":1000000000,"idle_heartbeat":600000000}
     hear 1
     pull C {"expires":300000000,"idle_heartbeat":150000000}
     hear 2`,
    'inbox.1 <- 400 Bad Request - heartbeat value too large',
  ],
]);
