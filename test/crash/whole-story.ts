// The whole story, the same in every process: a message becomes a task, its agent plans it and gives the parts to three others, who work
// one after the other with tools that do something outside; a person halts one of them and answers another. What is told is decided by
// the conversation alone, so that whoever goes on after a crash goes on with the same words.
import { appendFileSync, readFileSync } from 'node:fs'
import { z } from 'zod'
import { type AbilityContext, defineAbility } from '../../src/bus/ability.ts'
import { ErrandError } from '../../src/core/errors.ts'
import type { Engine, EngineOptions } from '../../src/engine-api.ts'
import { agent } from '../../src/executors/agent/agent.ts'
import { createScriptedModel, type ScriptedPrompt, type ScriptedTurn } from '../../src/testing/index.ts'
import type { Effect } from './executors.ts'

export const message = 'Please have the login repaired.'
export const objectives = ['Find the cause', 'Repair it']
/** What two of them find: so it is more certain, and a bug's fix is worth keeping. */
export const finding = 'The bug is that the redirect drops the session cookie.'
export const remark = 'Nobody has tested the logout so far.'
export const ending = 'The login is repaired.'

/** What a tool did outside. */
export interface Deed extends Effect {
  /** The same for every repetition of the call. */
  identity: string
  mark: string
}

export function deedsIn(effects: string): Deed[] {
  const lines = readFileSync(effects, 'utf8').split('\n')
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Deed)
}

export interface StoryParts {
  /** The file of effects. */
  effects: string
  /** Halts a task: what a person does when the slow tool has begun. */
  halt(taskId: string): unknown
  /** Called inside of a tool, when it has done what it does and before anybody has heard. */
  inside?(mark: string): void
  /** Called when a model has been asked for its n-th step, from 0. */
  asked?(who: string, turn: number): void
  /** The planted fault: a tool that is not idempotent says that it may be made again. */
  careless?: boolean
}

// ── what the models say ──

type Say = (prompt: ScriptedPrompt) => ScriptedTurn

const idIn = (text: string, pattern: RegExp): string => pattern.exec(text)?.[1] ?? ''

/** Recognises the wish, and leads the work. */
function lead(prompt: ScriptedPrompt): ScriptedTurn {
  if (prompt.tools.length === 0) {
    return { text: JSON.stringify({ action: 'create_task', confidence: 0.9, details: { name: 'Repair the login' } }) }
  }
  const told = prompt.messages.filter(({ role }) => role === 'tool').map(({ text }) => text)
  const taskId = idIn(told.join('\n'), /"me":"(task-\w+)"/)
  if (taskId === '') return { text: 'Who am I?', tools: [{ name: 'story_who', input: {} }] }
  if (!told.some((text) => text.includes(objectives[0] as string))) return plan(prompt.last, taskId)
  const spawned = told.flatMap((text) => [...text.matchAll(/"taskId":"(task-\w+)","branch"/g)].map(([, id]) => id))
  const next = parts[spawned.length]
  if (next !== undefined) return give(next, taskId, spawned.at(-1))
  if (/"taskId":"task-\w+","branch":/.test(prompt.last)) {
    return { text: 'I wait for them.', tools: [{ name: 'wait_for_tasks', input: {} }] }
  }
  return { text: ending }
}

/** Broken off, it may have happened: whoever plans looks before planning again. */
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

function give(part: (typeof parts)[number], team: string, after: string | undefined): ScriptedTurn {
  const input = { ...part, input: { team }, blockedBy: after === undefined ? [] : [after] }
  return { text: `${part.executor} is to do its part.`, tools: [{ name: 'task_create', input }] }
}

const calls = (name: string, input: unknown): ScriptedTurn => ({ tools: [{ name, input }] })
const done = (objectiveId: number) => (taskId: string) =>
  calls('objective_update', { taskId, objectiveId, status: 'done' })

/** Turn by turn, each of the team that it works in. */
const lines = {
  finder: [
    () => calls('story_note', { mark: 'one' }),
    () => calls('story_count', { mark: 'two' }),
    done(1),
    () => ({ text: finding }),
  ],
  fixer: [() => calls('story_slow', { mark: 'three' }), done(2), () => ({ text: finding })],
  checker: [() => calls('story_pay', { mark: 'four' }), () => ({ text: remark })],
  reader: [() => ({ text: 'It dropped it.' })],
} satisfies Record<string, Array<(team: string) => ScriptedTurn>>

export const workers = ['finder', 'fixer', 'checker'] as const

/** How many steps each model of the team takes, whatever is broken off on the way. */
export const stepsOf = Object.fromEntries(Object.entries(lines).map(([who, turns]) => [who, turns.length]))

function speaker(turns: ReadonlyArray<(team: string) => ScriptedTurn>): Say {
  return ({ goal, turn }) => (turns[turn] as (team: string) => ScriptedTurn)(idIn(goal, /"(task-\w+)"/))
}

// ── what the tools do ──

const markSchema = z.strictObject({ mark: z.string() })

function tools({ effects, halt, inside = () => {}, careless = false }: StoryParts) {
  const act = (name: string, mark: string, { callId = '', identity = '', caller }: AbilityContext) => {
    const before = deedsIn(effects).filter((deed) => deed.identity === identity).length
    const deed: Deed = { callId, identity, taskId: caller.taskId ?? '', name, mark }
    appendFileSync(effects, `${JSON.stringify(deed)}\n`)
    inside(mark)
    return { times: before + 1, said: `${name} ${mark}` }
  }
  const marking = { input: markSchema, output: z.string() }
  return [
    defineAbility({
      id: 'story:who',
      description: 'Tells which task calls.',
      input: z.strictObject({}),
      output: z.object({ me: z.string() }),
      onInterrupt: 'rerun',
      handle: (_input, { caller }) => ({ me: caller.taskId ?? '' }),
    }),
    defineAbility({
      id: 'story:note',
      description: 'Leaves a mark, and must not be made twice.',
      ...marking,
      onInterrupt: careless ? 'rerun' : 'fail',
      handle: ({ mark }, context) => act('story:note', mark, context).said,
    }),
    defineAbility({
      id: 'story:count',
      description: 'Leaves a mark, and may be made again.',
      ...marking,
      onInterrupt: 'rerun',
      handle: ({ mark }, context) => act('story:count', mark, context).said,
    }),
    defineAbility({
      id: 'story:pay',
      description: 'Leaves a mark; a person says whether it is made again.',
      ...marking,
      onInterrupt: 'ask',
      handle: ({ mark }, context) => act('story:pay', mark, context).said,
    }),
    defineAbility({
      id: 'story:slow',
      description: 'Leaves a mark and lasts until it is halted; made again it is quick.',
      ...marking,
      onInterrupt: 'rerun',
      async handle({ mark }, context) {
        const { times, said } = act('story:slow', mark, context)
        if (times > 1) return said
        void halt(context.caller.taskId ?? '')
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

export function storyOptions(given: StoryParts): EngineOptions<any> {
  const modelOf = (who: string, say: Say) =>
    createScriptedModel((prompt) => {
      given.asked?.(prompt.tools.length === 0 ? 'intent' : who, prompt.turn)
      return say(prompt)
    })
  const agents = Object.entries(lines).map(([who, turns]) => [who, agent({ model: modelOf(who, speaker(turns)) })])
  return { model: modelOf('lead', lead), executors: Object.fromEntries(agents), abilities: tools(given) }
}

// ── what people do ──

export interface Played {
  team: string
  later: string
}

/** From the message to the task that comes after; from wherever the ledger stands. `halted` is called while one of them is paused. */
export async function playWholeStory(engine: Engine<any>, halted: () => void = () => {}): Promise<Played> {
  const team = await taskOfMessage(engine)
  await attend(engine, team, halted)
  const later = await engine.create({
    key: 'later',
    executor: 'reader',
    goal: 'What did the redirect do to the session cookie?',
  })
  await engine.settled(later.id)
  return { team, later: later.id }
}

/** Said again only where it was lost. */
async function taskOfMessage(engine: Engine<any>): Promise<string> {
  const { tasks } = await engine.list({ parentId: null })
  const known = tasks.find(({ goal }) => goal === message)
  if (known !== undefined) return known.id
  const { task, by } = await engine.handle(message)
  if (task === null || by !== 'intent') throw new Error(`the message was taken for something else, by ${by}`)
  return task.id
}

/** Lets go on what was halted, and answers what is asked, until the team has been closed. */
async function attend(engine: Engine<any>, team: string, halted: () => void): Promise<void> {
  for await (const { type, taskId } of engine.events()) {
    if (type === 'team.closed' && taskId === team) return
    if (type === 'task.paused' && (await engine.get(taskId))?.status === 'paused') {
      halted()
      await unlessOver(engine.resume(taskId))
    }
    if (type === 'question.asked') await answerOpen(engine, taskId)
  }
}

/** She has looked: what was broken off has happened, so it is not to be made again. */
async function answerOpen(engine: Engine<any>, taskId: string): Promise<void> {
  for (const { id } of (await engine.get(taskId))?.questions ?? []) {
    await unlessOver(engine.answer(taskId, 'fail', { question: id }))
  }
}

/** Somebody may have been faster: who died has done it, or another of the same people. */
async function unlessOver(deed: Promise<unknown>): Promise<void> {
  try {
    await deed
  } catch (error) {
    if (!ErrandError.isInstance(error) || !['NO_QUESTION', 'INVALID_TRANSITION'].includes(error.code)) throw error
  }
}
