/** nats-server#7886: deleting a consumer right after it was used failed with "directory not empty". */
import { describePullTalks } from '../helpers/pull-talk.ts';

const ROUNDS = 20;
const ROUND = `
     consumer C
     pull C 1
     hear 1
     api CONSUMER.DELETE.S.C`;

describePullTalks('a consumer that is deleted right after it was used', [
  ['is gone, again and again', `put a${ROUND.repeat(ROUNDS)}`],
]);
