// A process that serves an engine with its page, for the browser tests and for the pictures in the documents. Its executors wait, ask and
// spread out, so that there is a task in any state. It can be killed and started again on the same ledger.
import { setTimeout as delay } from 'node:timers/promises'
import { assign, createMachine } from 'xstate'
import { z } from 'zod'
import { createEngine, defineAbility, defineExecutor, shell } from '../../../src/index.ts'
import type { Principal } from '../../../src/surfaces/http/index.ts'
import { serve } from '../../../src/surfaces/http/page/serve.ts'
import { createScriptedModel } from '../../../src/testing/index.ts'
import { machine } from '../../../src/user-machines/index.ts'

const [ledger = '', port = '0', token = '', readersToken = ''] = process.argv.slice(2)

/** Reports one step for each number, every `ms` milliseconds. */
const count = defineExecutor({
  onInterrupt: 'rerun',
  async run(task, run) {
    const { to = 3, ms = 20 } = (task.input ?? {}) as { to?: number; ms?: number }
    await run.message('assistant', `Counting to ${to}.`)
    for (let n = 1; n <= to; n++) {
      await run.call('count', { n }, (_params, { signal }) => delay(ms, n, { signal }))
      await run.progress(n / to, `${n} of ${to}`)
    }
    return { counted: to }
  },
})

const asks = defineExecutor({
  async run(_task, run) {
    const colour = await run.ask('Which colour shall it be?', {
      type: 'string',
      enum: ['red', 'green', 'blue'],
    })
    await run.message('assistant', `It will be ${String(colour)}.`)
    return { colour }
  },
})

const confirms = defineExecutor({
  run: async (_task, run) => ({ bound: await run.ask('Shall it be bound in leather?', { type: 'boolean' }) }),
})

const named = defineExecutor({
  run: async (_task, run) => ({ title: await run.ask('What is its title?', { type: 'string', maxLength: 40 }) }),
})

/** Asks its input, which is Markdown as models write it, for an answer that needs a form. */
const inquires = defineExecutor({
  run: (task, run) => run.ask(String(task.input), { type: 'object', properties: { verdict: { type: 'string' } } }),
})

const greet = defineExecutor({
  input: z.object({
    name: z.string().describe('Whom to greet.'),
    times: z.int().min(1).max(9).default(2),
    manner: z.enum(['loud', 'soft']).optional(),
  }),
  run: (task) => `Hello ${task.input.name}`.repeat(task.input.times),
})

/** Works until it is paused or canceled. */
const rests = defineExecutor({
  onInterrupt: 'rerun',
  run: (_task, run) => run.call('rest', {}, (_params, { signal }) => delay(3_600_000, undefined, { signal })),
})

const fails = defineExecutor({
  run() {
    throw new Error('The kiln is cold.', { cause: new TypeError('No gas is left.') })
  },
})

/** Asks, sleeps, and fails in the first attempt: the task that docs/guides/charts.md follows. */
const bakes = defineExecutor({
  async run(task, run) {
    const bread = await run.ask('Which bread?', { type: 'string' })
    await run.sleep(100)
    if (task.attempt === 1) throw new Error('The oven is cold.')
    return `${String(bread)} bread`
  },
})

/** Says its input and returns it, as a model would its Markdown. */
const writes = defineExecutor({
  async run(task, run) {
    await run.message('assistant', String(task.input))
    return task.input
  },
})

const collects = defineExecutor({
  async run(_task, run) {
    await run.waitForSignal('paid', { timeoutMs: '1d' })
    const hook = await run.webhook()
    return hook.wait()
  },
})

/** Prints without a command, once it is signaled: a stored line, and one that is only live. */
const prints = defineExecutor({
  async run(_task, run) {
    await run.waitForSignal('print')
    await run.call('print', {}, () => {
      run.emit('a stored line\n', { store: true })
      run.emit('a live line\n')
    })
    await run.waitForSignal('end')
    return 'printed'
  },
})

/** Fails in the first attempt and succeeds in the next. */
const failsOnce = defineExecutor({
  run(task) {
    if (task.attempt === 1) throw new Error('The kiln is cold.')
    return 'fired'
  },
})

const pay = defineAbility({
  id: 'bank:pay',
  description: 'Pays an amount.',
  input: z.object({ amount: z.number() }),
  output: z.object({ paid: z.number() }),
  confirm: 'May this be paid?',
  handle: ({ amount }) => ({ paid: amount }),
})

const paying = [
  {
    reasoning: 'It is due today.',
    text: 'I pay it.',
    tools: [{ name: 'bank_pay', input: { amount: 12 } }],
    usage: { inputTokens: 1_200, outputTokens: 24 },
  },
  { text: 'It is paid.', usage: { inputTokens: 1_300, outputTokens: 6 } },
]

/** The machine that docs/guides/page.md shows. */
const order = machine(
  createMachine({
    id: 'order',
    context: { card: null },
    initial: 'open',
    states: {
      open: {
        on: {
          PAY: { target: 'paid', actions: assign({ card: ({ event }) => event.card ?? null }) },
          CANCEL: 'canceled',
        },
        after: { 86400000: 'canceled' },
      },
      paid: {
        initial: 'packing',
        states: { packing: { on: { PACKED: 'sending' } }, sending: {} },
        on: { DELIVERED: 'done' },
      },
      done: { type: 'final' },
      canceled: { type: 'final' },
    },
  }),
)

const engine = await createEngine({
  ledger,
  executors: {
    count,
    asks,
    confirms,
    named,
    inquires,
    greet,
    rests,
    fails,
    failsOnce,
    bakes,
    collects,
    writes,
    prints,
    order,
    shell,
  },
  abilities: [pay],
  model: createScriptedModel(
    ({ goal, turn }) =>
      paying[goal === 'Pay the bill' ? turn : 2] ?? {
        reasoning: 'It looks fine.',
        text: 'I looked at it, and it is done.',
      },
  ),
  maxConcurrent: 8,
})
const principals = new Map<string | null, Principal>([
  [`Bearer ${token}`, { scopes: ['admin'] }],
  [`Bearer ${readersToken}`, { scopes: ['read'] }],
])
const server = await serve(engine, {
  port: Number(port),
  authenticate: (request) => principals.get(request.headers.get('authorization')) ?? null,
  rateLimit: false,
})
process.on('message', (given: { ability: string; input: unknown }) => {
  void engine.bus.call(given.ability, given.input).then(
    (result) => process.send?.({ result }),
    (error: unknown) => process.send?.({ error: String(error) }),
  )
})
process.send?.({ url: server.url })
