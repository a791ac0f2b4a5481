// The faulty ledger: it fails at the planted points in the planted way, and nowhere else.
import { expect, it, onTestFinished } from 'vitest'
import { createFaultyLedger, openLedger, type Step } from '../../src/testing/index.ts'
import { eventRow, taskRow } from '../ledger/factories.ts'

async function setup() {
  const ledger = createFaultyLedger(await openLedger(':memory:'))
  onTestFinished(() => ledger.close())
  const ids = async () => (await ledger.read((tx) => tx.task.list({}, 99))).map((task) => task.id)
  const add = (id: string, name = 'add') => ledger.step({ name, decide: (tx) => tx.task.insert(taskRow({ id })) })
  return { ledger, ids, add }
}

it('a faulty ledger refuses, loses or keeps a step, and its caller cannot distinguish the last two', async () => {
  const { ledger, ids, add } = await setup()
  ledger.fail(2, 'refused')
  ledger.fail(3, 'lost')
  ledger.fail(4, 'kept')
  const outcomes = await Promise.allSettled(['a', 'b', 'c', 'd', 'e'].map((id) => add(id)))
  expect(outcomes).toMatchObject([
    { status: 'fulfilled' },
    { reason: { code: 'LEDGER_WRITE_FAILED' } },
    { reason: { code: 'OUTCOME_UNKNOWN' } },
    { reason: { code: 'OUTCOME_UNKNOWN' } },
    { status: 'fulfilled' },
  ])
  expect(await ids()).toEqual(['a', 'd', 'e'])
  expect(ledger.steps).toEqual(['add', 'add', 'add', 'add', 'add'])
})

it('a faulty ledger fails the steps of a name once, or until it is mended', async () => {
  const { ledger, ids, add } = await setup()
  ledger.fail('pay', 'lost')
  await add('a')
  await expect(add('b', 'pay')).rejects.toMatchObject({ details: { step: 'pay', how: 'lost' } })
  await add('c', 'pay')
  ledger.fail((name) => name === 'pay', 'refused', { persistent: true })
  for (const id of ['d', 'e']) await expect(add(id, 'pay')).rejects.toMatchObject({ code: 'LEDGER_WRITE_FAILED' })
  ledger.mend()
  await add('f', 'pay')
  expect(await ids()).toEqual(['a', 'c', 'f'])
})

it('a faulty ledger passes on the error of a step, even with a fault planted for it', async () => {
  const { ledger, ids } = await setup()
  const refusal = new Error('no')
  ledger.fail(1, 'kept')
  const refused: Step = {
    name: 'add',
    *decide(tx) {
      yield* tx.task.insert(taskRow({ id: 'a' }))
      throw refusal
    },
  }
  await expect(ledger.step(refused)).rejects.toBe(refusal)
  expect(await ids()).toEqual([])
})

it('a faulty ledger holds a step at a gate while others are committed', async () => {
  const { ledger, ids, add } = await setup()
  const gate = ledger.hold('slow')
  const slow = add('slow', 'slow')
  await gate.reached
  await add('quick')
  expect(await ids()).toEqual(['quick'])
  gate.open()
  await slow
  await add('later', 'slow')
  expect(await ids()).toEqual(['quick', 'slow', 'later'])
})

it('a faulty ledger opens its gates when it is closed, so that no step waits forever', async () => {
  const { ledger, add } = await setup()
  const gate = ledger.hold(1)
  const held = add('a')
  await gate.reached
  const closed = ledger.close()
  await expect(held).rejects.toMatchObject({ code: 'ENGINE_CLOSED' })
  await closed
})

it('a faulty ledger fails a number of reads, or all until it is mended, with LEDGER_UNAVAILABLE', async () => {
  const { ledger, ids, add } = await setup()
  await add('a')
  ledger.failReads(2)
  for (let time = 0; time < 2; time++) await expect(ids()).rejects.toMatchObject({ code: 'LEDGER_UNAVAILABLE' })
  expect(await ids()).toEqual(['a'])
  ledger.failReads()
  for (let time = 0; time < 5; time++) await expect(ids()).rejects.toMatchObject({ code: 'LEDGER_UNAVAILABLE' })
  await add('b')
  ledger.mend()
  expect(await ids()).toEqual(['a', 'b'])
})

it('a faulty ledger fails at random, in the same way for the same random numbers', async () => {
  const play = async () => {
    const { ledger, ids, add } = await setup()
    let drawn = 0
    const random = () => {
      drawn += 37
      return (drawn % 100) / 100
    }
    ledger.failAtRandom(random, { refused: 0.2, lost: 0.2, kept: 0.2, read: 0.5 })
    const outcomes: string[] = []
    for (let n = 0; n < 12; n++) {
      const outcome = await add(`task-${n}`).then(
        () => 'done',
        (error) => error.details.how as string,
      )
      const read = await ids().then(
        () => 'read',
        () => 'unread',
      )
      outcomes.push(`${outcome} ${read}`)
    }
    ledger.mend()
    return { outcomes, kept: await ids() }
  }
  const first = await play()
  expect(await play()).toEqual(first)
  for (const word of ['done', 'refused', 'lost', 'kept', ' read', 'unread'])
    expect(first.outcomes.join()).toContain(word)
  const inLedger = first.outcomes.flatMap((each, n) => (/^(done|kept)/.test(each) ? [`task-${n}`] : []))
  expect(first.kept).toEqual(inLedger)
})

it('a faulty ledger notifies observers without events when an outcome is unknown, as a ledger whose commit fails does', async () => {
  for (const [how, inLedger] of [
    ['kept', ['a', 'b']],
    ['lost', ['b']],
  ] as const) {
    const { ledger, ids } = await setup()
    const received: string[] = []
    const committed = (events: readonly { taskId: string }[]) => received.push(...events.map(({ taskId }) => taskId))
    ledger.observe({ committed, changed: () => received.push('changed'), failed() {} }, { watchOthers: false })
    ledger.fail(1, how)
    const add = (id: string) =>
      ledger.step({
        name: 'add',
        *decide(tx) {
          yield* tx.task.insert(taskRow({ id }))
          yield* tx.event.append(eventRow({ taskId: id }))
        },
      })
    await expect(add('a')).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' })
    await add('b')
    expect(received).toEqual(['changed', 'b'])
    expect(await ids()).toEqual(inLedger)
  }
})
