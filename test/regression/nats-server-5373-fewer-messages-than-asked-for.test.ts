/** nats-server#5373, #7457: a request that did not wait, with fewer messages than it asked for, ended in 408. */
import { describePullTalks } from '../helpers/pull-talk.ts';

describePullTalks('a request that does not wait', [
  [
    'gets what is there, and is told that there is no more',
    `put a*5
     consumer C
     pull C {"batch":10,"no_wait":true}
     hear 6`,
    's.a <- $JS.ACK.S.C.1.5.5.<ns>.0 | 5',
    'inbox.1 <- 404 No Messages',
  ],
]);
