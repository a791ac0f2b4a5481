// The same conversation in two ways: by the engine, with every step and call in its ledger, and by a plain loop that keeps the
// messages in an array.
import { z } from 'zod'
import { toolTable } from '../../src/bus/tool-names.ts'
import { agent } from '../../src/executors/agent/agent.ts'
import { createEngine, defineAbility } from '../../src/index.ts'
import { streamModelStep } from '../../src/models/model-step.ts'
import { addChunk, type ModelAnswer, type ModelMessage, type ToolCall } from '../../src/models/step-schema.ts'
import { BusyModel, type Course } from './busy-model.ts'

const instructions = 'You work through a long list.'
const goal = 'Look everything up and take notes.'

const lookUp = ({ key }: { key: string }): string => `${key}: ${'what is known of it, '.repeat(10)}`
const takeNote = ({ text }: { text: string }): { kept: boolean; length: number } => ({
  kept: true,
  length: text.length,
})

const abilities = [
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
function idleTools(count: number) {
  return Array.from({ length: count }, (_, n) =>
    defineAbility({
      id: `bench:idle_${n}`,
      description: 'Nobody calls it.',
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

/** Runs one task in a new engine on this ledger. `idle`: additional tools that are never called. */
export async function walkByEngine(ledger: string, course: Course, idle = 0): Promise<Walk> {
  const model = new BusyModel(course)
  const busy = agent({ model, instructions, abilities: ['bench:*'], maxIterations: course.steps + 1 })
  const engine = await createEngine({ ledger, executors: { busy }, abilities: [...abilities, ...idleTools(idle)] })
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

/** The plain loop. */
export async function walkPlainly(course: Course): Promise<Walk> {
  const model = new BusyModel(course)
  const { signal } = new AbortController()
  const { definitions } = toolTable(abilities)
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
