// The introductory prompts of a task board, played by a scripted model through the four tools, and the same plans run by executors.
import { describe, expect, it, onTestFinished } from 'vitest'
import { runModelStep } from '../../src/agents/models/model-step.ts'
import type { ScriptedTurn } from '../../src/agents/models/script.ts'
import { createScriptedModel } from '../../src/agents/models/scripted-model.ts'
import type { ModelMessage } from '../../src/agents/models/step-schema.ts'
import { boardTools } from '../../src/board/board-tools.ts'
import type { Engine, ExecutorMap } from '../../src/engine/engine-api.ts'
import { openEngine, puppet, reached, turns } from '../engine/world.ts'

interface Loop {
  /** Plays a prompt to its end; resolves to the model's last text. */
  ask(prompt: string): Promise<string>
  /** The answers of the tools so far, oldest first. */
  answers: string[]
}

/** A minimal agent loop: call the model, run its tool calls, return the results, until it makes no more calls. */
async function openLoop(script: readonly ScriptedTurn[]): Promise<Loop> {
  const engine = await openEngine()
  const { tools, dispatch, close } = boardTools(engine, { as: 'model' })
  onTestFinished(close)
  const model = createScriptedModel(script)
  const definitions = tools.map(({ name, description, input_schema: parameters }) => ({
    function: { name, description, parameters },
  }))
  const messages: ModelMessage[] = []
  const answers: string[] = []
  return {
    answers,
    async ask(prompt) {
      messages.push({ role: 'user', content: prompt })
      for (;;) {
        const step = { messages: [...messages], tools: definitions }
        const { content, toolCalls } = await runModelStep(model, step, new AbortController().signal)
        messages.push({ role: 'assistant', content, tool_calls: toolCalls })
        if (toolCalls.length === 0) return content
        for (const { id, function: call } of toolCalls) {
          const answer = await dispatch(call.name, JSON.parse(call.arguments))
          answers.push(answer)
          messages.push({ role: 'tool', tool_call_id: id, content: answer })
        }
      }
    },
  }
}

const create = (subject: string, ...addBlockedBy: number[]) => ({
  name: 'task_create',
  input: { subject, ...(addBlockedBy.length === 0 ? {} : { addBlockedBy }) },
})
const complete = (task_id: number) => ({ name: 'task_update', input: { task_id, status: 'completed' } })
const list = { name: 'task_list', input: {} }

describe('The example of three tasks', () => {
  it('S4-036 S4-041 three tasks are created in order, listed, and the second is unblocked when the first is completed', async () => {
    const { ask, answers } = await openLoop([
      { tools: [create('Setup project'), create('Write code', 1), create('Write tests', 2)] },
      { text: 'Made.' },
      { tools: [list] },
      { text: 'Listed.' },
      { tools: [complete(1), list] },
      { text: 'Task 2 is free.' },
    ])
    await ask('Create 3 tasks: "Setup project", "Write code", "Write tests". Make them depend on each other in order.')
    expect(answers.map((answer) => JSON.parse(answer) as object)).toMatchObject([
      { id: 1, subject: 'Setup project', status: 'pending', blockedBy: [], owner: '' },
      { id: 2, subject: 'Write code', status: 'pending', blockedBy: [1] },
      { id: 3, subject: 'Write tests', status: 'pending', blockedBy: [2] },
    ])
    await ask('List all tasks and show the dependency graph')
    expect(answers.at(-1)).toBe(
      '[ ] #1: Setup project\n[ ] #2: Write code (blocked by: [1])\n[ ] #3: Write tests (blocked by: [2])',
    )
    expect(await ask('Complete task 1 and then list tasks to see task 2 unblocked')).toBe('Task 2 is free.')
    expect(JSON.parse(answers.at(-2) as string)).toMatchObject({ id: 1, status: 'completed', unblocked: [2] })
    expect(answers.at(-1)).toBe(
      '[x] #1: Setup project @model\n[ ] #2: Write code\n[ ] #3: Write tests (blocked by: [2])',
    )
  })
})

const stages = ['parse', 'transform', 'emit', 'test']

describe('The example of the refactoring', () => {
  it('S4-043 a model works through dependent tasks in order and is refused out of order', async () => {
    const { ask, answers } = await openLoop([
      { tools: stages.map((stage, n) => (n === 0 ? create(stage) : create(stage, n))) },
      { text: 'The board stands.' },
      { tools: [complete(3)] },
      ...[1, 2, 3, 4].map((number) => ({ tools: [complete(number)] })),
      { tools: [list] },
      { text: 'Refactored.' },
    ])
    await ask('Create a task board for refactoring: parse -> transform -> emit -> test')
    answers.length = 0
    expect(await ask('Now do it')).toBe('Refactored.')
    expect(answers[0]).toMatch(/^Error: .*blocked by \[2\]/)
    expect(answers.slice(1, 5).map((answer) => JSON.parse(answer) as object)).toMatchObject([
      { id: 1, status: 'completed', unblocked: [2] },
      { id: 2, status: 'completed', unblocked: [3] },
      { id: 3, status: 'completed', unblocked: [4] },
      { id: 4, status: 'completed' },
    ])
    expect(answers.at(-1)).toBe(stages.map((stage, n) => `[x] #${n + 1}: ${stage} @model`).join('\n'))
  })

  it('S4-043 S4-046 executors work through dependent tasks in order, each stage with its own executor', async () => {
    const log: string[] = []
    const executors: ExecutorMap = Object.fromEntries(
      stages.map((stage) => [
        stage,
        async () => {
          log.push(`${stage} begins`)
          await turns(3)
          log.push(`${stage} ends`)
          return stage
        },
      ]),
    )
    const engine = (await openEngine({ executors, maxConcurrent: 4 })) as unknown as Engine
    const ids: string[] = []
    for (const [n, stage] of stages.entries()) {
      const { task } = await engine.bus.call('board:create', {
        subject: stage,
        executor: stage,
        ...(n === 0 ? {} : { blockedBy: [n] }),
      })
      ids.push(task.taskId)
    }
    await engine.result(ids.at(-1) as string)
    expect(log).toEqual(stages.flatMap((stage) => [`${stage} begins`, `${stage} ends`]))
    const { tasks } = await engine.bus.call('board:list', {})
    expect(tasks.map(({ id, status, result }) => [id, status, result])).toEqual(
      stages.map((stage, n) => [n + 1, 'completed', stage]),
    )
  })

  it('S4-042 S4-046 in a diamond both sides run concurrently, and the last task only after both', async () => {
    const { executor, runs, started } = puppet()
    const engine = await openEngine({ executors: { stage: executor } })
    const make = async (subject: string, blockedBy: number[] = []) =>
      (await engine.bus.call('board:create', { subject, executor: 'stage', blockedBy })).task.taskId
    const first = await make('parse')
    await make('transform left', [1])
    await make('transform right', [1])
    const last = await make('emit', [2, 3])
    const names = () => runs.map(({ task }) => task.name)

    ;(await started(0)).end.resolve(null)
    await reached(engine, first, 'completed')
    const left = await started(1)
    const right = await started(2)
    expect(names().slice(1).sort()).toEqual(['transform left', 'transform right'])
    left.end.resolve(null)
    await reached(engine, left.task.id, 'completed')
    await turns()
    expect(names()).toHaveLength(3)
    const { task } = await engine.bus.call('board:get', { id: 4 })
    expect(task).toMatchObject({
      status: 'pending',
      ready: false,
      blockedBy: [right.task.name === 'transform right' ? 3 : 2],
    })
    right.end.resolve(null)
    ;(await started(3)).end.resolve('emitted')
    expect(await engine.result(last)).toBe('emitted')
  })

  it('S4-044 S4-046 tasks without an executor wait until clients claim them in order', async () => {
    const engine = await openEngine({ work: false })
    for (const [n, subject] of stages.entries()) {
      await engine.bus.call('board:create', { subject, ...(n === 0 ? {} : { blockedBy: [n] }) })
    }
    const done: string[] = []
    for (;;) {
      const { tasks: ready } = await engine.bus.call('board:ready', {})
      const { task } = await engine.bus.call('board:claim_next', { as: 'ada' })
      expect(ready.map(({ id }) => id)).toEqual(task === null ? [] : [task.id])
      if (task === null) break
      done.push(task.subject)
      await engine.bus.call('board:complete', { id: task.id, as: 'ada' })
    }
    expect(done).toEqual(stages)
  })
})
