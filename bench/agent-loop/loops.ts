// The same conversation in two ways: by the engine, with every step and call in its ledger, and by a plain loop that keeps the
// messages in an array.
import { z } from 'zod'
import type { ModelAnswer, ModelMessage, ToolCall } from '../../src/agents/models/step-schema.ts'
import type { Errand } from '../runner/row.ts'
import { BusyModel, type Course } from './busy-model.ts'

const instructions = 'You work through a long list.'
const goal = 'Look everything up and take notes.'

const lookUp = ({ key }: { key: string }): string => `${key}: ${'what is known of it, '.repeat(10)}`
const takeNote = ({ text }: { text: string }): { kept: boolean; length: number } => ({
  kept: true,
  length: text.length,
})

export const abilitiesOf = ({ defineAbility }: Pick<Errand, 'defineAbility'>) => [
  defineAbility({
    id: 'bench:look_up',
    description: 'Looks an entry up.',
    input: z.strictObject({ key: z.string() }),
    output: z.string(),
    handle: lookUp,
  }),
  defineAbility({
    id: 'bench:take_note',
    description: 'Takes a note.',
    input: z.strictObject({ text: z.string() }),
    output: z.strictObject({ kept: z.boolean(), length: z.number() }),
    handle: takeNote,
  }),
]

/** Tools that are offered and never called. */
function idleTools({ defineAbility }: Errand, count: number) {
  return Array.from({ length: count }, (_, n) =>
    defineAbility({
      id: `bench:idle_${n}`,
      description: 'It is never called.',
      input: z.strictObject({ id: z.string(), limit: z.number().optional(), tags: z.array(z.string()).optional() }),
      output: z.string(),
      handle: () => '',
    }),
  )
}

/** A finished conversation. */
export interface Walk {
  stepsMs: number[]
  /** Its length in characters. */
  conversation: number
}

/** Runs one task in a new engine on this ledger. */
export async function walkByEngine(errand: Errand, ledger: string, course: Course): Promise<Walk> {
  const model = new BusyModel(course)
  const busy = errand.agent({ model, instructions, abilities: ['bench:*'], maxIterations: course.steps + 1 })
  const abilities = [...abilitiesOf(errand), ...idleTools(errand, course.idleTools)]
  const engine = await errand.createEngine({ ledger, executors: { busy }, abilities })
  try {
    const task = await engine.create({ executor: 'busy', goal })
    await engine.result(task)
    const made = await engine.calls(task)
    const completed = made.filter(({ status }) => status === 'completed').length
    if (completed !== course.steps * course.calls) {
      throw new Error(`${completed} of ${course.steps * course.calls} calls are completed in the ledger`)
    }
    return { stepsMs: model.stepsMs, conversation: model.conversation }
  } finally {
    await engine.close()
  }
}

/** The plain loop, with the engine's own code for a step of a model. */
export async function walkPlainly(course: Course): Promise<Walk> {
  const { toolTable } = await import('../../src/bus/tool-names.ts')
  const { defineAbility } = await import('../../src/index.ts')
  const { streamModelStep } = await import('../../src/agents/models/model-step.ts')
  const { addChunk } = await import('../../src/agents/models/step-schema.ts')
  const model = new BusyModel(course)
  const { signal } = new AbortController()
  const { definitions } = toolTable(abilitiesOf({ defineAbility }))
  const messages: ModelMessage[] = [
    { role: 'system', content: instructions },
    { role: 'user', content: goal },
  ]
  for (;;) {
    const answer: ModelAnswer = { content: '', toolCalls: [], finish: null }
    const chunks = streamModelStep(model, { messages, tools: definitions }, signal)
    for await (const chunk of chunks) addChunk(answer, chunk)
    messages.push({ role: 'assistant', content: answer.content, tool_calls: answer.toolCalls })
    if (answer.toolCalls.length === 0) return { stepsMs: model.stepsMs, conversation: model.conversation }
    messages.push(...(await Promise.all(answer.toolCalls.map(plainResult))))
  }
}

async function plainResult({ id, function: asked }: ToolCall): Promise<ModelMessage> {
  const given = JSON.parse(asked.arguments) as never
  const content = asked.name === 'bench_look_up' ? lookUp(given) : JSON.stringify(takeNote(given))
  return { role: 'tool', tool_call_id: id, name: asked.name, content }
}
