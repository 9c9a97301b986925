/** nats-server#7984: messages that were deleted while they were pending held their place under max_ack_pending for good. */
import { describePullTalks } from '../helpers/pull-talk.ts';

describePullTalks('a message that is deleted while it is pending', [
  [
    'makes place for the next',
    `put a*2
     consumer C {"max_ack_pending":1}
     pull C 1
     hear 1
     api STREAM.MSG.DELETE.S {"seq":1}
     pull C 1
     hear 1`,
    's.a <- $JS.ACK.S.C.1.2.2.<ns>.0 | 2',
  ],
]);
