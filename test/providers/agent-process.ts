// An agent in a process of its own, with the real client package of a family: it plays the scenario, and another process continues it after a kill.
import { createEngine, defineAbility } from 'errand'
import { z } from 'zod'
import { families } from './families.ts'
import { question } from './scenario.ts'

const [family, url, ledger] = process.argv.slice(2) as [string, string, string]
const found = families[family]
if (found === undefined) throw new Error(`There is no family "${family}".`)

const ability = (id: string, input: z.ZodType, handle: () => unknown) =>
  defineAbility({
    id,
    description: `${id} of trips.`,
    input,
    output: z.unknown(),
    handle: async () => handle(),
    onInterrupt: 'rerun',
  })

const engine = await createEngine({
  ledger,
  model: found.model(url),
  maxIterations: 20,
  modelRetry: { maxAttempts: 1 },
  abilities: [
    ability('trip:search', z.object({ to: z.string() }), () => ({ offers: [1, 2, 3] })),
    ability('trip:weather', z.object({ city: z.string() }), () => 'Rain.'),
    // A person sends a message while it runs.
    ability(
      'trip:book',
      z
        .discriminatedUnion('kind', [z.object({ kind: z.literal('a') }), z.object({ kind: z.literal('b') })])
        .or(z.object({ offer: z.number() })),
      async () => {
        await engine.send(task, 'Be brief.')
        return 'Booked.'
      },
    ),
  ],
})
engine.subscribe('question.asked', ({ taskId, data }) => {
  if (data['question'] === question) void engine.answer(taskId, 'Tomorrow.')
})
await engine.bus.call('mem:remember', { text: 'Trips to Oslo are booked by train.' })
const first = await engine.create({ goal: 'Look at trips to Oslo', key: 'before', autoStart: false, name: 'before' })
const task = await engine.create({ goal: 'Book a trip to Oslo', key: 'trip', name: 'trip' })
// A question that was open when the process died.
if ((await engine.get(task.id))?.status === 'input_required') await engine.answer(task, 'Tomorrow.')
const outcome = await engine.settled(task)
await engine.cancel(first).catch(() => {})
const { messages } = await engine.bus.call('task:messages', { taskId: task.id, limit: 1_000 })
process.stdout.write(
  `${JSON.stringify({ outcome, answers: messages.filter(({ role }) => role === 'assistant').length })}\n`,
)
await engine.close()
