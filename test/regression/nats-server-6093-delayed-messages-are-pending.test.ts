/** nats-server#6093: messages that were refused with a delay count as pending meanwhile; that is how it is meant. */
import { describePullTalks } from '../helpers/pull-talk.ts';

describePullTalks('messages refused with a delay', [
  [
    'hold their places',
    `put a*3
     consumer C {"max_ack_pending":2}
     pull C 2
     hear 2
     ack 1 -NAK 60s
     ack 2 -NAK 60s
     pull C {"expires":300000000}
     hear 1`,
    'inbox.2 <- 408 Request Timeout | Nats-Pending-Messages: 0 | Nats-Pending-Bytes: 0',
  ],
]);
