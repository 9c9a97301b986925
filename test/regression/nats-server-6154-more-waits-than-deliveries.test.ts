/** nats-server#6154: a backoff longer than max_deliver was taken, and a shorter one refused. */
import { describePullTalks } from '../helpers/pull-talk.ts';

describePullTalks('a backoff', [
  [
    'is at most as long as there are deliveries',
    `consumer C {"backoff":[1000000000,2000000000],"max_deliver":1}
     consumer D {"backoff":[1000000000,2000000000],"max_deliver":2}
     consumer E {"backoff":[1000000000,2000000000],"max_deliver":9}
     api CONSUMER.NAMES.S`,
  ],
]);
