// A call without a line about its start is ended by one statement, unread, in place of its machine. Both must agree for every state and
// event.
import { describe, expect, it, onTestFinished } from 'vitest'
import { type CallStatus, callStatuses } from '../../../src/entities/call.ts'
import { openLedger } from '../../../src/ledger/open-ledger.ts'
import { decideCall } from '../../../src/machines/call-machine.ts'
import { teamSteps } from '../../../src/memory/team/team-steps.ts'
import { type EntryOutcome, finishEntry } from '../../../src/operations/steps/journal.ts'
import { callRow, runRow, someTime } from '../../ledger/factories.ts'
import { whole } from './whole-row.ts'

const ctx = { at: someTime + 10, instanceId: 'engine-1', teams: teamSteps }
const error = { code: 'BROKEN', message: 'it broke' }

const outcomes: Record<'complete' | 'fail', EntryOutcome> = {
  complete: { ok: true, result: { n: 1 }, resultLost: null },
  fail: { ok: false, error },
}
const cells = callStatuses.flatMap((from) =>
  (['complete', 'fail'] as const).map((event) => ({ from, event, outcome: outcomes[event] })),
)

async function open(status: CallStatus) {
  const ledger = await openLedger(':memory:')
  onTestFinished(() => ledger.close())
  await ledger.step({
    name: 'plant',
    *decide(tx) {
      const team = { taskId: 'task', agentId: 'ben' }
      yield* tx.task.insert(whole({ id: 'task', status: 'working', run: 1, runOpen: true, policy: { team } }))
      yield* tx.run.insert(runRow({ taskId: 'task' }))
      const ended = status === 'failed' ? { error } : status === 'completed' ? { result: 'earlier' } : {}
      yield* tx.call.insert(callRow({ id: 'call', taskId: 'task', status, ...ended }))
    },
  })
  return ledger
}

/** The call and the events after a call is finished; `asked`: the machine is asked instead of running the statement. */
async function finished(from: CallStatus, outcome: EntryOutcome, asked: boolean) {
  const ledger = await open(from)
  const { decide } = finishEntry({ taskId: 'task', run: 1 }, { id: 'call', name: 'fetch' }, outcome, ctx, asked)
  const refused = await ledger.step({ name: 'finish', decide }).then(
    () => undefined,
    ({ code }) => code as string,
  )
  return ledger.read(function* (tx) {
    return { refused, call: yield* tx.call.get('call'), events: yield* tx.event.after(0, 10) }
  })
}

describe.each(cells)('a call that is $from', ({ from, event, outcome }) => {
  it(`a call that is ${from} gets its outcome by the statement if its machine accepts ${event}`, async () => {
    const ledger = await open(from)
    const to = decideCall(from, { type: event })?.[0]?.to
    const ended = { id: 'call', taskId: 'task', kind: 'call', updatedAt: ctx.at, result: null } as const
    const came = outcome.ok ? ({ status: 'completed', error: null } as const) : ({ status: 'failed', error } as const)
    expect(await ledger.step({ name: 'end', decide: (tx) => tx.call.end({ ...ended, ...came }) })).toBe(
      to !== undefined,
    )
    expect((await ledger.read((tx) => tx.call.get('call')))?.status).toBe(to ?? from)
  })

  it(`a call that is ${from} has the same row and events after ${event}, whether by the statement or by its machine`, async () => {
    expect(await finished(from, outcome, false)).toEqual(await finished(from, outcome, true))
  })
})

it('a call with a line about its start is left to its machine', async () => {
  const ledger = await open('completed')
  const announced = callRow({ id: 'announced', taskId: 'task', startMessageId: 'msg-1', ordinal: 1 })
  await ledger.step({ name: 'begin', decide: (tx) => tx.call.insert(announced) })
  const ended = { ...announced, status: 'completed' } as const
  expect(await ledger.step({ name: 'end', decide: (tx) => tx.call.end(ended) })).toBe(false)
})
