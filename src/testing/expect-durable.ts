// Whether crashes change what an executor does: it is run once for each write of the ledger, with a crash there.

import { AssertionError } from 'node:assert'
import { z } from 'zod'
import { ErrandError } from '../core/errors.ts'
import { parse } from '../core/parse.ts'
import { messageOf } from '../core/stored-error.ts'
import type { AnyExecutor } from '../entities/executor.ts'
import type { InputOf } from '../entities/new-task.ts'
import type { Task } from '../entities/task.ts'
import { differingPart, type RunView, runView } from './durable-view.ts'
import type { DeathPoint } from './mortal-ledger.ts'
import { MortalTestEngine, type TestEngine, type TestEngineOptions } from './test-engine.ts'

/** The test engine of `play`. Its methods outlive a crash, which may come at any write. */
export type DurableTest = Pick<TestEngine, 'clock' | 'rest' | 'advance' | 'answer' | 'signal'>

/** The options of `expectDurable`. */
export interface DurableOptions<E extends AnyExecutor = AnyExecutor> {
  /** The input of the task. Default: null. */
  input?: InputOf<E>
  /** The options of the engine of each run, such as `onInterrupt`, other executors, or a model that begins anew. Default: none. */
  engine?: () => TestEngineOptions
  /** Called before each run, and awaited: puts back what `effects` shows. */
  setup?: () => unknown
  /** What the executor has done outside of the ledger, such as the rows of a table. Called after each run. Default: nothing is compared. */
  effects?: () => unknown
  /** Answers questions, sends signals and lets time pass. Afterwards time passes until the task has ended or nothing falls due. */
  play?: (test: DurableTest, task: Task) => Promise<void>
}

const isFunction = z.custom((given) => typeof given === 'function', 'expected a function').optional()

const optionsSchema = z.strictObject({
  input: z.unknown().optional(),
  engine: isFunction,
  setup: isFunction,
  effects: isFunction,
  play: isFunction,
})

/** What `expectDurable` has done. */
export interface DurableReport {
  /** How many runs had a crash: one before and one after each write of a run without. */
  crashes: number
}

/**
 * Runs a task of an executor without a crash, and again for every write of that run, with a crash before or after it and a new engine that goes on.
 * Each must end with the same status, result, error, calls, children and `effects`. A crash before a write comes when the function of a call has
 * returned and nothing says so: what follows is up to `onInterrupt`, as in production.
 *
 * @example
 * await expectDurable(charge, {
 *   input: { order: 7 },
 *   setup: () => bank.clear(),
 *   effects: () => bank.payments,
 *   play: (test, task) => test.answer(task, true),
 * })
 *
 * @throws AssertionError with the write at which a crash made a difference, and the runs as `actual` and `expected`; or when two runs without a
 *   crash differ, which says nothing about crashes. ErrandError UNKNOWN_OPTION, INVALID_INPUT; what `engine`, `setup`, `effects` and `play` throw.
 */
export async function expectDurable<E extends AnyExecutor>(
  executor: E,
  options: DurableOptions<E> = {},
): Promise<DurableReport> {
  parse(optionsSchema, options, 'expectDurable')
  const writes: string[] = []
  const expected = await runOnce(executor, options, ({ when, name }) => {
    if (when === 'before') writes.push(name)
    return false
  })
  const compare = (actual: RunView, difference: (part: string) => string): void => {
    const part = differingPart(actual, expected)
    if (part !== undefined)
      throw new AssertionError({ message: `${difference(part)}${adviceFor(part, actual)}`, actual, expected })
  }
  compare(
    await runOnce(executor, options, () => false),
    (part) =>
      `Two runs without a crash differ at ${part}, so they say nothing about crashes: the functions of its calls need fakes that answer the same each time, which \`setup\` puts back.`,
  )
  for (const [index, name] of writes.entries())
    for (const when of ['before', 'after'] as const)
      compare(
        await runOnce(executor, options, onceAt(index + 1, when)),
        (part) => `A crash ${when} the write "${name}" (${index + 1} of ${writes.length}) changes ${part}.`,
      )
  return { crashes: 2 * writes.length }
}

/** One death, at this step of the first engine. */
function onceAt(step: number, when: DeathPoint['when']): (point: DeathPoint) => boolean {
  let isOver = false
  return (point) => {
    if (isOver || point.step !== step || point.when !== when) return false
    isOver = true
    return true
  }
}

async function runOnce<E extends AnyExecutor>(
  executor: E,
  { input, engine, setup, effects, play }: DurableOptions<E>,
  kills: (point: DeathPoint) => boolean,
): Promise<RunView> {
  await setup?.()
  const options = engine?.() ?? {}
  const executors = { ...options.executors, tested: executor }
  const test = await MortalTestEngine.open({ ...options, executors }, kills)
  try {
    const task = (await test.ask((engine) =>
      engine.create({ executor: 'tested', key: 'tested', ...(input === undefined ? {} : { input }) } as never),
    )) as Task
    await play?.(test, task)
    await test.pass(task)
    return await runView(test, task, copyOf(await effects?.()))
  } finally {
    await test.close()
  }
}

/** The next run changes what `effects` has returned. */
function copyOf(effects: unknown): unknown {
  try {
    return structuredClone(effects)
  } catch (error) {
    throw new ErrandError(
      'INVALID_INPUT',
      `\`effects\` of expectDurable returned what cannot be copied, to be compared with the next run: ${messageOf(error)} Return plain data, such as rows, or the first argument of each call of a mock.`,
      { option: 'effects' },
      error,
    )
  }
}

function adviceFor(part: string, { error }: RunView): string {
  const code = (error as { code?: string } | null)?.code
  if (code === 'CALL_INTERRUPTED')
    return ' Nothing says what follows when a crash interrupts a call: catch CALL_INTERRUPTED, or set `onInterrupt` of the call, the executor or the engine.'
  if (code === 'CALL_DIVERGED' || part === 'calls')
    return ' It calls something else than before: take times and chance from run.now(), run.uuid() and run.random(), and what comes from outside from a call.'
  if (part === 'effects')
    return ' What acts outside belongs in a call, and a call that is made again gets the same `identity`, as an idempotency key.'
  return ''
}
