// The end-to-end scenario, the same in every process: a message becomes a task, its agent plans it and creates subtasks for three agents, which
// work one after the other with tools that have effects outside of the ledger. A person pauses one task and answers a question of another. The
// replies of the models depend on the conversation alone, so that a process after a crash continues with the same replies.
import { appendFileSync, readFileSync } from 'node:fs'
import { z } from 'zod'
import { agent } from '../../src/agents/loop/agent.ts'
import { defineAbility } from '../../src/bus/ability.ts'
import type { AbilityContext } from '../../src/bus/ability-context.ts'
import { ErrandError } from '../../src/core/errors.ts'
import type { Engine, EngineOptions } from '../../src/engine/engine-api.ts'
import { createScriptedModel, type ScriptedPrompt, type ScriptedTurn } from '../../src/testing/index.ts'
import type { Effect } from './executors.ts'

export const message = 'Please have the login repaired.'
export const objectives = ['Find the cause', 'Repair it']
/** Stated by two agents, which makes it more certain, so that it is kept. */
export const finding = 'The bug is that the redirect drops the session cookie.'
export const remark = 'The logout has not been tested so far.'
export const ending = 'The login is repaired.'

/** An effect of a tool. */
export interface ToolEffect extends Effect {
  /** The same for every repetition of the call. */
  identity: string
  mark: string
}

export function toolEffectsIn(effects: string): ToolEffect[] {
  const lines = readFileSync(effects, 'utf8').split('\n')
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as ToolEffect)
}

export interface ScenarioOptions {
  /** The file of effects. */
  effects: string
  /** Pauses a task, as a person does when the slow tool has begun. */
  pause(taskId: string): unknown
  /** Called inside of a tool, after its effect and before it returns. */
  inside?(mark: string): void
  /** Called when a model is called for its n-th step, from 0. */
  asked?(who: string, turn: number): void
  /** The planted fault: a tool that is not idempotent is declared as repeatable. */
  careless?: boolean
}

// ── the replies of the models ──

type Reply = (prompt: ScriptedPrompt) => ScriptedTurn

const idIn = (text: string, pattern: RegExp): string => pattern.exec(text)?.[1] ?? ''

/** The model of the team: recognizes the intent of the message, and plans the work. */
function lead(prompt: ScriptedPrompt): ScriptedTurn {
  if (prompt.tools.length === 0) {
    return { text: JSON.stringify({ action: 'create_task', confidence: 0.9, details: { name: 'Repair the login' } }) }
  }
  const results = prompt.messages.filter(({ role }) => role === 'tool').map(({ text }) => text)
  const taskId = idIn(results.join('\n'), /"me":"(task-\w+)"/)
  if (taskId === '') return { text: 'Who am I?', tools: [{ name: 'scenario_task', input: {} }] }
  if (!results.some((text) => text.includes(objectives[0] as string))) return plan(prompt.last, taskId)
  const spawned = results.flatMap((text) => [...text.matchAll(/"taskId":"(task-\w+)","branch"/g)].map(([, id]) => id))
  const next = parts[spawned.length]
  if (next !== undefined) return delegate(next, taskId, spawned.at(-1))
  if (/"taskId":"task-\w+","branch":/.test(prompt.last)) {
    return { text: 'I wait for them.', tools: [{ name: 'wait_for_tasks', input: {} }] }
  }
  return { text: ending }
}

/** An interrupted call may have had its effect, so the model reads the plan before it plans again. */
function plan(last: string, taskId: string): ScriptedTurn {
  return last.startsWith('Error')
    ? { tools: [{ name: 'task_context', input: { taskId } }] }
    : { text: 'I plan.', tools: [{ name: 'objective_add', input: { taskId, descriptions: objectives } }] }
}

const parts = [
  { executor: 'finder', goal: 'Find the cause' },
  { executor: 'fixer', goal: 'Repair it' },
  { executor: 'checker', goal: 'Check it' },
] as const

function delegate(part: (typeof parts)[number], team: string, after: string | undefined): ScriptedTurn {
  const input = { ...part, input: { team }, blockedBy: after === undefined ? [] : [after] }
  return { text: `${part.executor} is to do its part.`, tools: [{ name: 'task_create', input }] }
}

const calls = (name: string, input: unknown): ScriptedTurn => ({ tools: [{ name, input }] })
const done = (objectiveId: number) => (taskId: string) =>
  calls('objective_update', { taskId, objectiveId, status: 'done' })

/** The replies of each agent by turn; `team` is the id of its team. */
const lines = {
  finder: [
    () => calls('scenario_note', { mark: 'one' }),
    () => calls('scenario_count', { mark: 'two' }),
    done(1),
    () => ({ text: finding }),
  ],
  fixer: [() => calls('scenario_slow', { mark: 'three' }), done(2), () => ({ text: finding })],
  checker: [() => calls('scenario_pay', { mark: 'four' }), () => ({ text: remark })],
  reader: [() => ({ text: 'It dropped it.' })],
} satisfies Record<string, Array<(team: string) => ScriptedTurn>>

export const workers = ['finder', 'fixer', 'checker'] as const

/** The number of steps of each model of the team, including interrupted ones. */
export const stepsOf = Object.fromEntries(Object.entries(lines).map(([who, turns]) => [who, turns.length]))

function replyBy(turns: ReadonlyArray<(team: string) => ScriptedTurn>): Reply {
  return ({ goal, turn }) => (turns[turn] as (team: string) => ScriptedTurn)(idIn(goal, /"(task-\w+)"/))
}

// ── the tools ──

const markSchema = z.strictObject({ mark: z.string() })

function tools({ effects, pause, inside = () => {}, careless = false }: ScenarioOptions) {
  const act = (name: string, mark: string, { callId = '', identity = '', caller }: AbilityContext) => {
    const before = toolEffectsIn(effects).filter((each) => each.identity === identity).length
    const effect: ToolEffect = { callId, identity, taskId: caller.taskId ?? '', name, mark }
    appendFileSync(effects, `${JSON.stringify(effect)}\n`)
    inside(mark)
    return { times: before + 1, output: `${name} ${mark}` }
  }
  const marking = { input: markSchema, output: z.string() }
  return [
    defineAbility({
      id: 'scenario:task',
      description: 'Returns the id of the calling task.',
      input: z.strictObject({}),
      output: z.object({ me: z.string() }),
      onInterrupt: 'rerun',
      handle: (_input, { caller }) => ({ me: caller.taskId ?? '' }),
    }),
    defineAbility({
      id: 'scenario:note',
      description: 'Leaves a mark. Must not be repeated.',
      ...marking,
      onInterrupt: careless ? 'rerun' : 'fail',
      handle: ({ mark }, context) => act('scenario:note', mark, context).output,
    }),
    defineAbility({
      id: 'scenario:count',
      description: 'Leaves a mark. May be repeated.',
      ...marking,
      onInterrupt: 'rerun',
      handle: ({ mark }, context) => act('scenario:count', mark, context).output,
    }),
    defineAbility({
      id: 'scenario:pay',
      description: 'Leaves a mark. A person decides whether it is repeated.',
      ...marking,
      onInterrupt: 'ask',
      handle: ({ mark }, context) => act('scenario:pay', mark, context).output,
    }),
    defineAbility({
      id: 'scenario:slow',
      description: 'Leaves a mark and lasts until its task is paused. Returns at once when repeated.',
      ...marking,
      onInterrupt: 'rerun',
      async handle({ mark }, context) {
        const { times, output } = act('scenario:slow', mark, context)
        if (times > 1) return output
        void pause(context.caller.taskId ?? '')
        return untilAborted(context.signal)
      },
    }),
  ]
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const end = () => reject(signal.reason as Error)
    if (signal.aborted) end()
    else signal.addEventListener('abort', end, { once: true })
  })
}

export function scenarioOptions(given: ScenarioOptions): EngineOptions<any> {
  const modelOf = (who: string, reply: Reply) =>
    createScriptedModel((prompt) => {
      given.asked?.(prompt.tools.length === 0 ? 'intent' : who, prompt.turn)
      return reply(prompt)
    })
  const agents = Object.entries(lines).map(([who, turns]) => [who, agent({ model: modelOf(who, replyBy(turns)) })])
  return { model: modelOf('lead', lead), executors: Object.fromEntries(agents), abilities: tools(given) }
}

// ── the people ──

export interface Played {
  team: string
  later: string
}

/** Plays the scenario from the message to the last task, from any state of the ledger. `paused` is called while a task is paused. */
export async function playScenario(engine: Engine<any>, paused: () => void = () => {}): Promise<Played> {
  const team = await taskOfMessage(engine)
  await attend(engine, team, paused)
  const later = await engine.create({
    key: 'later',
    executor: 'reader',
    goal: 'What did the redirect do to the session cookie?',
  })
  await engine.settled(later.id)
  return { team, later: later.id }
}

/** Sends the message, unless its task exists. */
async function taskOfMessage(engine: Engine<any>): Promise<string> {
  const { tasks } = await engine.list({ parentId: null })
  const known = tasks.find(({ goal }) => goal === message)
  if (known !== undefined) return known.id
  const { task, by } = await engine.handle(message)
  if (task === null || by !== 'intent') throw new Error(`the message was handled by ${by}`)
  return task.id
}

/** Resumes the paused task and answers the question, until the team has been closed. */
async function attend(engine: Engine<any>, team: string, paused: () => void): Promise<void> {
  for await (const { type, taskId } of engine.events()) {
    if (type === 'team.closed' && taskId === team) return
    if (type === 'task.paused' && (await engine.get(taskId))?.status === 'paused') {
      paused()
      await unlessOver(engine.resume(taskId))
    }
    if (type === 'question.asked') await answerOpen(engine, taskId)
  }
}

/** The interrupted call has had its effect, so the answer is not to repeat it. */
async function answerOpen(engine: Engine<any>, taskId: string): Promise<void> {
  for (const { id } of (await engine.get(taskId))?.questions ?? []) {
    await unlessOver(engine.answer(taskId, 'fail', { question: id }))
  }
}

/** Ignores that the change was made before, by a process that was killed. */
async function unlessOver(change: Promise<unknown>): Promise<void> {
  try {
    await change
  } catch (error) {
    if (!ErrandError.isInstance(error) || !['NO_QUESTION', 'INVALID_TRANSITION'].includes(error.code)) throw error
  }
}
