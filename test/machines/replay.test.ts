// What a repeated run does with what it finds: one row for each case of design section 2.
import { describe, expect, it } from 'vitest'
import type { CallKind, CallStatus } from '../../src/entities/call.ts'
import { replayOf } from '../../src/machines/replay.ts'

const entry = (status: CallStatus, attempt = 1, code: string | null = null, kind: CallKind = 'call') => ({
  kind,
  status,
  attempt,
  error: code === null ? null : { code, message: '' },
})

describe('replayOf', () => {
  it.each([
    ['does anew what was never done', undefined, 1, 'fail', 'anew'],
    ['gives what completed, in a later attempt too', entry('completed'), 3, 'fail', 'result'],
    ['gives the failure again within the attempt', entry('failed', 1, 'CALL_FAILED'), 1, 'rerun', 'error'],
    ['does a failed call anew in the next attempt', entry('failed', 1, 'CALL_FAILED'), 2, 'fail', 'anew'],
    ['does anew what only ended with its run', entry('failed', 1, 'RUN_ENDED', 'ask'), 1, 'fail', 'anew'],
    ['gives an interruption as an error by default', entry('failed', 1, 'CALL_INTERRUPTED'), 1, 'fail', 'error'],
    ['runs an interrupted call again if told so', entry('failed', 1, 'CALL_INTERRUPTED'), 1, 'rerun', 'anew'],
    ['asks a person about it if told so', entry('failed', 1, 'CALL_INTERRUPTED'), 1, 'ask', 'ask'],
    ['does it anew in the next attempt, without asking', entry('failed', 1, 'CALL_INTERRUPTED'), 2, 'ask', 'anew'],
    ['gives a wait that failed as its error', entry('failed', 1, 'TIMEOUT', 'wait'), 1, 'rerun', 'error'],
    ['goes on waiting for an open question', entry('pending', 1, null, 'ask'), 1, 'fail', 'resume'],
    ['goes on with an open sleep', entry('pending', 1, null, 'sleep'), 2, 'fail', 'resume'],
    ['does a call anew that nobody closed', entry('in_progress'), 1, 'fail', 'anew'],
  ] as const)('%s', (_title, found, attempt, onInterrupt, expected) => {
    expect(replayOf(found, attempt, onInterrupt)).toBe(expected)
  })
})
