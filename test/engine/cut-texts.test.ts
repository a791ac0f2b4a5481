// An emoji may stand wherever a text is cut: what is stored and shown is well-formed.
import { expect, it } from 'vitest'
import { Failure } from '../../src/core/errors.ts'
import { differencesOf } from '../../src/machines/divergence.ts'
import { openEngine, refusalOf } from './world.ts'

/** Texts of which one has the emoji where a limit cuts, for limits up to `length`. */
const texts = (length: number) => [0, 1].map((shift) => 'x'.repeat(shift) + '😀'.repeat(length))

it('a goal with an emoji where its default name ends is accepted by every way to create a task', async () => {
  const engine = await openEngine({ work: false })
  for (const goal of texts(100)) {
    const { name } = (await engine.get(await engine.create({ goal })))!
    expect([name.isWellFormed(), name.length > 78]).toEqual([true, true])
    await engine.bus.call('task:create', { goal })
    await engine.plan({ name: `plan ${goal.length}`, tasks: { a: { goal } } })
  }
})

it('the errors, reasons and messages that quote the beginning of a text are well-formed', async () => {
  const engine = await openEngine({
    executors: {
      fails: (task: { input: string }) => {
        throw new Failure(task.input, { retry: false })
      },
    },
  })
  for (const text of texts(3_000)) {
    const task = await engine.create({ executor: 'fails', input: text })
    await engine.settled(task)
    expect((await engine.why(task)).message.isWellFormed()).toBe(true)
    const refusal = await refusalOf(engine.bus.call(text, {}), 'NOT_FOUND')
    expect([refusal.message, JSON.stringify(refusal.details)].every((each) => each.isWellFormed())).toBe(true)
    const differences = differencesOf({ city: text }, { city: 'Oslo' })
    expect(JSON.stringify(differences)).not.toMatch(/\\ud[89a-f]/)
  }
})
