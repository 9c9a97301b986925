/** The leaf port: transcripts below leaf/, described in FORMAT.txt. */
import { join } from 'node:path';
import { runTranscripts } from './run-transcripts.ts';

runTranscripts(join(import.meta.dirname, 'leaf'));
