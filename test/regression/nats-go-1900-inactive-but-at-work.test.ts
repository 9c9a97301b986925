/** nats-io/nats.go#1900 (nats-server#7052): a consumer was inactive, and gone, while its messages were being worked on. */
import { describePullTalks } from '../helpers/pull-talk.ts';

describePullTalks('a consumer whose messages are not acknowledged yet', [
  [
    'is not inactive before they could be delivered again',
    `put a
     consumer C {"inactive_threshold":200000000,"ack_wait":4000000000}
     pull C 1
     hear 1
     wait 2500
     ack 1
     wait 1600
     api CONSUMER.NAMES.S`,
    "ack 1  -> answer ''",
    'CONSUMER.NAMES.S -> {"type":"io.nats.jetstream.api.v1.consumer_names_response","total":0,"offset":0,"limit":1024,"consumers":[]}',
  ],
]);
