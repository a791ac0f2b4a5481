// Shared by the tests of Agent OS: a task manager on a bus, closed with its test, which fails on reported errors; a model as a program
// registers one; and abilities called with JSON text, as programs call them.
import { expect, onTestFinished } from 'vitest'
import {
  type AgentBus,
  createAgentBus,
  createTaskManager,
  type TaskManagerConfig,
  type TaskManagerState,
} from '../../src/compat/agent-os.ts'
import { deferred, reached } from '../engine/world.ts'

export interface ModelInput {
  messages: Array<{ role: string; content: string; tool_call_id?: string }>
  tools?: Array<{ function: { name: string; description: string; parameters: unknown } }>
}

export interface ModelReply {
  content?: string
  /** Name and arguments. */
  tools?: Array<[name: string, args: unknown]>
}

/** Answers a step: `step` counts the steps of the conversation, from 0. */
export type Reply = (input: ModelInput, step: number) => ModelReply | Promise<ModelReply>

/** A `model:llm` that returns JSON text: chunks with `content`, and one with `toolCalls`. Records its requests. */
export function registerModel(bus: AgentBus, reply: Reply): ModelInput[] {
  const asked: ModelInput[] = []
  bus.register(
    {
      id: 'model:llm',
      moduleName: 'model',
      abilityName: 'llm',
      description: 'The model of a test',
      isStream: true,
      inputSchema: {
        type: 'object',
        properties: { messages: { type: 'array' }, tools: { type: 'array' } },
        required: ['messages'],
      },
      outputSchema: { type: 'object' },
    },
    async function* (json: string) {
      const input = JSON.parse(json) as ModelInput
      asked.push(input)
      const step = input.messages.filter(({ role }) => role === 'assistant').length
      const { content = '', tools = [] } = await reply(input, step)
      for (const piece of content.split(/(?<= )/)) yield JSON.stringify({ content: piece })
      if (tools.length === 0) return
      yield JSON.stringify({
        toolCalls: tools.map(([name, args], index) => ({
          id: `call_${step}_${index}`,
          function: { name, arguments: typeof args === 'string' ? args : JSON.stringify(args) },
        })),
      })
    },
  )
  return asked
}

/** Steps of a model that last until the test ends them, in the order of their beginning. */
export function heldModel() {
  const held: Array<{ goal: string; end(reply: ModelReply): void }> = []
  const waiting: Array<() => void> = []
  return {
    held,
    reply: (input: ModelInput): Promise<ModelReply> => {
      const end = deferred<ModelReply>()
      held.push({ goal: goalOf(input), end: end.resolve })
      for (const wake of waiting.splice(0)) wake()
      return end.promise
    },
    /** The n-th step, from 0, as soon as it has begun. */
    async began(index: number) {
      while (held.length <= index) await new Promise<void>((resolve) => waiting.push(resolve))
      return held[index] as (typeof held)[number]
    },
  }
}

export const goalOf = ({ messages }: ModelInput): string => messages.find(({ role }) => role === 'user')?.content ?? ''

/** Records what it receives; `until` resolves once a matching item has arrived. */
export function listener<T>() {
  const received: T[] = []
  const waiting: Array<() => void> = []
  return {
    received,
    receive(value: T): void {
      received.push(value)
      for (const wake of waiting.splice(0)) wake()
    },
    async until(fits: (received: readonly T[]) => boolean): Promise<void> {
      while (!fits(received)) await new Promise<void>((resolve) => waiting.push(resolve))
    },
  }
}

/** Shutdown does not wait for what a test leaves running. */
const shutdownTimeoutMs = 50

/** A bus with a model on it, and a task manager on the bus. */
export function openManager(config: TaskManagerConfig & { reply?: Reply; bus?: AgentBus } = {}) {
  const { reply, bus = createAgentBus(), ...rest } = config
  const asked = reply === undefined ? [] : registerModel(bus, reply)
  const reported: unknown[] = []
  const state = createTaskManager(bus, {
    shutdownTimeoutMs,
    onError: (error, context) => reported.push({ error, context }),
    ...rest,
  })
  onTestFinished(async () => {
    await state.shutdown()
    expect(reported).toEqual([])
  })
  return { bus, state, asked, invoke: invokerOf(bus) }
}

/** Resolves once the task waits for its user. */
export async function waitsForUser(state: TaskManagerState, taskId: string): Promise<void> {
  await reached(await state.engine, taskId, 'input_required')
}

/** JSON text in, JSON text out. */
export function invokerOf(bus: AgentBus) {
  return async (abilityId: string, input: unknown): Promise<any> =>
    JSON.parse(await bus.invoke(abilityId)(JSON.stringify(input)))
}

/** The whole output of `task:stream` of a task; resolves when the task has ended. */
export async function outputOf(bus: AgentBus, taskId: string): Promise<any[]> {
  const outputs: any[] = []
  for await (const chunk of bus.invokeStream('task:stream')(JSON.stringify({ taskId }))) outputs.push(JSON.parse(chunk))
  return outputs
}

/** The task as stored in the ledger, once it has ended. */
export async function ended(bus: AgentBus, taskId: string): Promise<any> {
  await outputOf(bus, taskId)
  return (await invokerOf(bus)('ldg:task:get', { taskId })).task
}

/** Registers an ability that takes any object, as a program does. */
export function registerTool(bus: AgentBus, id: string, handle: (input: any) => unknown): void {
  bus.register(
    {
      id,
      moduleName: id.slice(0, id.indexOf(':')),
      abilityName: id.slice(id.indexOf(':') + 1),
      description: `The ability ${id} of a test`,
      isStream: false,
      inputSchema: { type: 'object' },
      outputSchema: {},
    },
    async (json: string) => JSON.stringify((await handle(JSON.parse(json))) ?? null),
  )
}

/** Resolves once so many tasks run in the manager. */
export async function running(state: TaskManagerState, count: number): Promise<string[]> {
  const engine = await state.engine
  while (state.activeTaskIds.size !== count) {
    await new Promise<void>((resolve) => {
      const { unsubscribe } = engine.status.subscribe(() => {
        unsubscribe()
        resolve()
      })
    })
  }
  return [...state.activeTaskIds]
}
