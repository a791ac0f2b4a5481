// The work of the killed agents: a script, the tools it calls, and the answers to its questions; the same in every
// process. Each tool appends its mark to a file: what happened in the world, to be compared with the ledger.
import { appendFileSync, readFileSync } from 'node:fs'
import { z } from 'zod'
import { createScriptedModel } from '../../src/agents/models/scripted-model.ts'
import { defineAbility } from '../../src/bus/ability.ts'
import { ErrandError } from '../../src/core/errors.ts'
import type { Engine } from '../../src/engine/engine-api.ts'

export const reportTask = { key: 'report', goal: 'Write the report', metadata: { kind: 'report' } }
export const ending = 'The report is written.'

const mark = (name: string, what: string) => ({ name, input: { mark: what } })

/** Chosen by the conversation alone: the same in a process that has seen nothing of it. */
export const script = [
  {
    when: { goal: 'Write the report' },
    text: 'I begin with three things at once.',
    tools: [mark('test_note', 'one'), mark('test_boom', 'two'), mark('test_note', 'three')],
  },
  {
    when: { goal: 'Write the report' },
    text: 'Another agent may count.',
    tools: [
      { name: 'test_delegate', input: { name: 'Count the words' } },
      { name: 'no_such_tool', input: {} },
      { name: 'test_note', arguments: '{"mark": ' },
    ],
  },
  { when: { goal: 'Write the report' }, tools: [{ name: 'wait_for_tasks', input: {} }, mark('test_note', 'four')] },
  {
    when: { goal: 'Write the report' },
    text: 'Two questions.',
    tools: [
      { name: 'ask_user', input: { question: 'Which title?' } },
      mark('test_note', 'five'),
      { name: 'ask_user', input: { question: 'Which colour?', options: ['red', 'blue'] } },
    ],
  },
  { when: { goal: 'Write the report' }, tools: [mark('test_publish', 'six'), mark('test_note', 'seven')] },
  { when: { goal: 'Write the report' }, text: ending },
  {
    when: { goal: 'Count the words' },
    text: 'I count.',
    tools: [mark('test_note', 'eight'), mark('test_note', 'nine')],
  },
  { when: { goal: 'Count the words' }, text: '1234' },
]

/** The number of steps of the models in all. */
export const scriptedSteps = script.length

export const createScenarioModel = () => createScriptedModel(script)

export interface ScenarioOptions {
  /** The file of marks. */
  effects: string
  /** The planted fault: a tool that is not idempotent is declared repeatable. */
  careless?: boolean
}

export function scenarioAbilities({ effects, careless = false }: ScenarioOptions) {
  const input = z.strictObject({ mark: z.string() })
  const output = z.string()
  const leave = (what: string) => appendFileSync(effects, `${what}\n`)
  const onInterrupt = careless ? ('rerun' as const) : ('fail' as const)
  return [
    defineAbility({
      id: 'test:note',
      description: 'Leaves a mark.',
      input,
      output,
      onInterrupt,
      handle({ mark: what }) {
        leave(what)
        return `noted ${what}`
      },
    }),
    defineAbility({
      id: 'test:boom',
      description: 'Leaves a mark and fails.',
      input,
      output,
      onInterrupt,
      handle({ mark: what }) {
        leave(what)
        throw new Error(`bang ${what}`)
      },
    }),
    defineAbility({
      id: 'test:publish',
      description: 'Leaves a mark when a person has approved.',
      input,
      output,
      confirm: true,
      onInterrupt,
      handle({ mark: what }) {
        leave(what)
        return `published ${what}`
      },
    }),
    defineAbility({
      id: 'test:delegate',
      description: 'Gives a task to another agent.',
      input: z.strictObject({ name: z.string() }),
      output: z.strictObject({ name: z.string() }),
      // The key makes it one task, however often it is created.
      onInterrupt: 'rerun',
      async handle({ name }, { run }) {
        await run?.spawn({ goal: name }, { key: name })
        return { name }
      },
    }),
  ]
}

export function marksIn(effects: string): string[] {
  return readFileSync(effects, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
}

/** Answers every question of the task, until it has settled. */
export async function answerAll(engine: Engine, taskId: string): Promise<void> {
  for await (const event of engine.events({ taskId })) {
    if (event.type === 'question.asked') await answerOpen(engine, taskId)
    else if (event.type === 'task.completed' || event.type === 'task.failed') return
  }
}

/** Its questions may have been answered before a crash: then there is nothing to answer. */
async function answerOpen(engine: Engine, taskId: string): Promise<void> {
  for (const { id, question } of (await engine.get(taskId))?.questions ?? []) {
    try {
      await engine.answer(taskId, answerTo(question), { question: id })
    } catch (error) {
      if (!ErrandError.isInstance(error) || !['NO_QUESTION', 'INVALID_TRANSITION'].includes(error.code)) throw error
    }
  }
}

function answerTo(question: string): unknown {
  if (question === 'Which title?') return 'On Words'
  return question === 'Which colour?' ? 'blue' : { approved: true }
}
