// Executors made of XState machines: a durable machine is a task, and each of its macrosteps is a step of the ledger.
import type { AnyStateMachine, InputFrom, OutputFrom } from 'xstate'
import { z } from 'zod'
import type { Duration } from '../core/duration.ts'
import { ErrandError } from '../core/errors.ts'
import { once } from '../core/once.ts'
import { parse } from '../core/parse.ts'
import type { CallOptions } from '../entities/call-options.ts'
import { type Executor, executorOptionsSchema, makeExecutor, type Run } from '../entities/executor.ts'
import type { HandlerTemplate } from '../entities/handler.ts'
import type { MachineTraits } from '../entities/machine.ts'
import { callOptionsSchema } from '../entities/options.ts'
import type { OnInterrupt, RetryOptions } from '../entities/task-fields.ts'
import { machineRunOf } from '../operations/machine-run.ts'
import { fittingState, type MigrateMachine } from './changed-definition.ts'
import { Definition } from './definition.ts'
import { chartOfDefinition } from './definition-chart.ts'
import { findingsOf } from './inspect-definition.ts'
import { isMachine } from './logic-kind.ts'
import { machineMark } from './machine-of.ts'
import { MachineTask } from './machine-task.ts'
import { moveAtRest } from './move-at-rest.ts'

export interface MachineOptions {
  /** Names this state of the code; stored with each situation. Default: the `version` of the definition. */
  version?: string
  /** By the name of an actor with promise logic, or of an action: how its call is made. Default: the options of the executor. */
  calls?: Readonly<Record<string, Omit<CallOptions, 'key' | 'divergence'>>>
  /**
   * Makes the situation that this definition goes on from of one that another version has stored. Its states, actors and delayed events are
   * checked as any stored ones. Called once for each task and version, unless a crash follows at once.
   */
  migrate?: MigrateMachine
  /** Default for tasks without a retry policy. A new attempt goes on from the last situation. Default: one attempt. */
  retry?: number | RetryOptions
  /** Maximum duration of a run in milliseconds; a machine that rests has no run. Default: none. */
  timeoutMs?: Duration
  /** Maximum of its runs that are open in one engine at the same time. Default: the engine's limit. */
  concurrency?: number
  /**
   * What becomes of a promise or an action that a crash interrupted: `fail`: a promise ends with the error CALL_INTERRUPTED (`onError`), an
   * action fails the task; `rerun`: it is made again; `ask`: a person decides. Default: the engine's.
   */
  onInterrupt?: OnInterrupt
  /** The tasks that are created when one of its tasks fails for good, and when one needs an answer. Default: the engine's. */
  onFailure?: HandlerTemplate
  onInputRequired?: HandlerTemplate
}

const optionsSchema = once(() =>
  executorOptionsSchema()
    .pick({
      retry: true,
      timeoutMs: true,
      concurrency: true,
      onInterrupt: true,
      onFailure: true,
      onInputRequired: true,
    })
    .extend({
      version: z.string().min(1).max(200).optional(),
      calls: z.record(z.string(), callOptionsSchema().omit({ key: true, divergence: true })).optional(),
      migrate: z.custom<MigrateMachine>((value) => typeof value === 'function', 'expected a function').optional(),
    }),
)

/**
 * An executor whose tasks are actors of this machine: they survive restarts in any state, with their delays, promises and children. A final
 * state completes the task with the machine's output; an error that the machine does not handle fails it.
 *
 * @example
 * const engine = await createEngine({ ledger: 'orders.db', executors: { order: machine(orderMachine) } })
 * const task = await engine.create({ executor: 'order', input: { total: 80 } })
 * await engine.sendEvent(task, { type: 'PAY', card: 'tok_1' })
 * @throws ErrandError INVALID_INPUT for what is not an XState 5 machine, and for one that could not run, such as one that names an action that it
 *   does not have (`errand machine FILE` lists all findings); UNKNOWN_OPTION
 */
export function machine<M extends AnyStateMachine>(
  definition: M,
  options: MachineOptions = {},
): Executor<InputFrom<M>, OutputFrom<M>> {
  if (!isMachine(definition)) {
    throw new ErrandError(
      'INVALID_INPUT',
      'machine() takes an XState 5 machine: setup({ … }).createMachine({ … }).',
      {},
    )
  }
  const faults = findingsOf(definition).filter(({ severity }) => severity === 'error')
  if (faults.length > 0) {
    const listed = faults.map(({ place, problem, remedy }) => `${place}: ${problem} ${remedy}`).join('\n')
    throw new ErrandError('INVALID_INPUT', `The machine "${definition.id}" cannot run as a task:\n${listed}`, {
      findings: faults,
    })
  }
  const { version, calls = {}, migrate, ...traits } = parse(optionsSchema, options, 'machine')
  const root = new Definition(definition, version ?? definition.version ?? null, calls as Record<string, CallOptions>)
  const executor = {
    ...noTraits,
    ...(traits as Partial<Executor>),
    machine: {
      moveAtRest: (resting) => moveAtRest(root, resting),
      chart: () => chartOfDefinition(definition),
    } satisfies MachineTraits,
    run: (task: { input: unknown }, run: Run) => runMachine(root, migrate, task.input ?? undefined, run),
  } as Executor<InputFrom<M>, OutputFrom<M>>
  Object.defineProperty(executor, machineMark, { value: definition })
  return makeExecutor(executor)
}

const noTraits = {
  input: undefined,
  result: undefined,
  retry: undefined,
  timeoutMs: undefined,
  concurrency: undefined,
  onInterrupt: undefined,
  onFailure: undefined,
  onInputRequired: undefined,
  divergence: undefined,
  divergenceWaitMs: undefined,
  runsCommands: false,
  asksPeople: false,
  agent: undefined,
}

async function runMachine(
  root: Definition,
  migrate: MigrateMachine | undefined,
  input: unknown,
  run: Run,
): Promise<unknown> {
  const facility = machineRunOf(run)
  const definition = root.at(facility.place?.path ?? [])
  const stored = facility.stored()
  const state = stored === undefined ? undefined : await fittingState(definition, migrate, stored, run)
  facility.show(definition.machine.config, state?.state)
  return new MachineTask(definition, run, facility).toEnd(state, input)
}
