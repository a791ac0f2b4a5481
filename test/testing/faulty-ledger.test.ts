// The faulty ledger: it fails where it is told to, in the way that it is told, and nowhere else.
import { expect, it, onTestFinished } from 'vitest'
import { createFaultyLedger, eventRow, openLedger, type Step, taskRow } from '../../src/testing/index.ts'

async function setup() {
  const ledger = createFaultyLedger(await openLedger(':memory:'))
  onTestFinished(() => ledger.close())
  const ids = async () => (await ledger.read((tx) => tx.task.list({}, 99))).map((task) => task.id)
  const add = (id: string, name = 'add') => ledger.step({ name: name, decide: (tx) => tx.task.insert(taskRow({ id })) })
  return { ledger, ids, add }
}

it('refuses a step with nothing kept, loses one, or keeps one, and its caller cannot distinguish the last two', async () => {
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

it('fails steps of a name once, or every time until it is mended', async () => {
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

it('passes the refusal of a judge on, whatever was planted behind it', async () => {
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

it('holds a step back at a gate, while others overtake it', async () => {
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

it('opens its gates when it is closed, so that no step waits for ever', async () => {
  const { ledger, add } = await setup()
  const gate = ledger.hold(1)
  const held = add('a')
  await gate.reached
  const closed = ledger.close()
  await expect(held).rejects.toMatchObject({ code: 'ENGINE_CLOSED' })
  await closed
})

it('lets reads fail with LEDGER_UNAVAILABLE, a number of them or all until it is mended', async () => {
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

it('fails by chance, in the same way for the same chance', async () => {
  const story = async () => {
    const { ledger, ids, add } = await setup()
    let drawn = 0
    const random = () => {
      drawn += 37
      return (drawn % 100) / 100
    }
    ledger.failAtRandom(random, { refused: 0.2, lost: 0.2, kept: 0.2, read: 0.5 })
    const told: string[] = []
    for (let n = 0; n < 12; n++) {
      const outcome = await add(`task-${n}`).then(
        () => 'done',
        (error) => error.details.how as string,
      )
      const read = await ids().then(
        () => 'read',
        () => 'unread',
      )
      told.push(`${outcome} ${read}`)
    }
    ledger.mend()
    return { told, kept: await ids() }
  }
  const first = await story()
  expect(await story()).toEqual(first)
  for (const word of ['done', 'refused', 'lost', 'kept', ' read', 'unread']) expect(first.told.join()).toContain(word)
  const inLedger = first.told.flatMap((each, n) => (/^(done|kept)/.test(each) ? [`task-${n}`] : []))
  expect(first.kept).toEqual(inLedger)
})

it('notifies observers without events when an outcome is unknown, as a ledger whose commit fails does', async () => {
  for (const [how, inLedger] of [
    ['kept', ['a', 'b']],
    ['lost', ['b']],
  ] as const) {
    const { ledger, ids } = await setup()
    const heard: string[] = []
    const committed = (events: readonly { taskId: string }[]) => heard.push(...events.map(({ taskId }) => taskId))
    ledger.observe({ committed, changed: () => heard.push('look'), failed() {} }, { watchOthers: false })
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
    expect(heard).toEqual(['look', 'b'])
    expect(await ids()).toEqual(inLedger)
  }
})
