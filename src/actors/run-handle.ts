// The run as its executor uses it: every request is validated, recorded before it is executed, and refused after the
// end of the run. The handler of an ability gets a restricted one, the executor of an agent an extended one.

import { failureWithin } from '../bus/ability-error.ts'
import type { Duration } from '../core/duration.ts'
import { ErrandError } from '../core/errors.ts'
import { uuidOf } from '../core/ids.ts'
import { checkText, faithfulImage } from '../core/json.ts'
import { requireSpokenText, requireText } from '../core/parse.ts'
import { storableText } from '../core/storable-text.ts'
import type { drawnValues } from '../entities/call.ts'
import type { InvokeOptions, Run, RunEngine, SpawnOptions } from '../entities/executor.ts'
import type { MessageRole } from '../entities/message.ts'
import { invokeOptionsSchema, keyOptionsSchema, webhookOptionsSchema } from '../entities/options.ts'
import { type EmitOptions, emitOptionsSchema, namedStream } from '../entities/output.ts'
import { signalOfWebhook, webhookName, webhookPath } from '../entities/signal.ts'
import type { Task } from '../entities/task.ts'
import type { AnswerSchema, AskOptions, AwaitedRef, SignalOptions, WaitOptions } from '../entities/wait-options.ts'
import { type AgentRun, agentFacilities } from '../operations/agent-run.ts'
import { checkedInput } from '../operations/drafts/known-executors.ts'
import { type MachineRun, machineFacilities } from '../operations/machine-run.ts'
import { dependenciesOf } from '../operations/steps/explain.ts'
import { recordValue, reportProgress } from '../operations/steps/journal.ts'
import type { CallFunction } from './perform-call.ts'
import { callArguments, checkFraction, checkMessage, checkOptions, checkRelease } from './run-arguments.ts'
import type { CallWay, RunCalls } from './run-calls.ts'
import type { RunConversation } from './run-conversation.ts'
import type { RunCore, RunHost } from './run-core.ts'
import { RunMachineState } from './run-machine-state.ts'
import type { RunOutput } from './run-output.ts'
import { Entrant, handleAll, Waiting } from './run-race.ts'
import { spawnInRun } from './run-spawns.ts'
import { traceModel } from './run-trace.ts'
import type { RunWaits } from './run-waits.ts'

/** The parts of a live run. */
export interface RunParts {
  readonly core: RunCore
  readonly output: RunOutput
  readonly conversation: RunConversation
  readonly waits: RunWaits
  readonly calls: RunCalls
}

/** A wait is not a call: nothing of it is in flight, so the run can be suspended meanwhile and free its slot. */
const waitAbility = 'task:wait'

const uuid = (host: RunHost): string => uuidOf(host.nextId('uuid') + host.nextId('uuid') + host.nextId('uuid'))

const draw = {
  now: (host: RunHost): number => host.clock.now(),
  uuid,
  webhook: uuid,
  random: (host: RunHost): number => host.chance(),
} satisfies Record<(typeof drawnValues)[number], unknown>

type Draw = typeof draw

export class RunHandle implements Run {
  readonly number: number
  readonly attempt: number
  readonly #parts: RunParts
  readonly #core: RunCore

  constructor(parts: RunParts) {
    this.#parts = parts
    this.#core = parts.core
    this.number = this.#core.ref.run
    this.attempt = this.#core.attempt
  }

  get signal(): AbortSignal {
    return this.#core.signal
  }

  get engine(): RunEngine {
    return this.#core.host.engine() as RunEngine
  }

  call(name: string, ...rest: any[]): Promise<any> {
    return this.#core.request(() => {
      const { params, fn, options } = callArguments(name, rest)
      return this.#parts.calls.make(name, params, fn, options)
    })
  }

  invoke(ability: string | { readonly id: string }, input?: unknown, given?: InvokeOptions): Promise<any> {
    return this.#core.request(() => {
      const options = checkOptions(invokeOptionsSchema, given, 'run.invoke')
      const id = typeof ability === 'string' ? requireText(ability, 'the id of the ability') : ability.id
      const { caller, host } = this.#core
      const registered = host.bus.get(id)
      if (registered !== undefined && id === waitAbility) {
        return this.#parts.waits.forAbility(registered.parseInput(input ?? {}), options.key)
      }
      const fn: CallFunction = async (params, { signal, callId, identity, note }) => {
        try {
          return await host.bus.call(id, params, { caller, signal, run: runInCall(this), callId, identity, note })
        } catch (error) {
          throw failureWithin(error)
        }
      }
      return this.#parts.calls.make(id, input ?? {}, fn, {
        onInterrupt: options.onInterrupt ?? registered?.onInterrupt,
        retry: options.retry ?? registered?.retry,
        timeoutMs: options.timeoutMs ?? registered?.timeoutMs,
        key: options.key,
        divergence: options.divergence,
      } as CallWay)
    })
  }

  message(
    role: MessageRole,
    content: string | AsyncIterable<string> | Iterable<string>,
    options?: { key?: string },
  ): Promise<string> {
    return this.#core.request(() => {
      checkMessage(role, content)
      const { key } = checkOptions(keyOptionsSchema, options, 'run.message')
      this.#core.divergence.asked()
      return this.#core.busy(() => this.#parts.conversation.write(role, content, key))
    })
  }

  emit(chunk: string, options?: EmitOptions): void {
    if (this.#core.hasEnded) return
    const { store, stream = 'stdout' } = checkOptions(emitOptionsSchema, options, 'run.emit')
    const text = this.#core.host.redaction.text(checkText(storableText(String(chunk)), 'the output'), 'output')
    if (store) this.#parts.output.add(text, stream)
    else this.#core.host.live(this.#core.taskId, { content: text, ...namedStream(stream) })
  }

  ask(question: string, schema?: AnswerSchema | null, options?: AskOptions): Promise<any> {
    return this.#waiting((entrant) => this.#parts.waits.ask(question, schema, options, entrant))
  }

  spawn(specs: unknown, options?: SpawnOptions): Promise<any> {
    return this.#core.request(() => spawnInRun(this.#core, specs, options))
  }

  wait(tasks: AwaitedRef | readonly AwaitedRef[], options?: WaitOptions): Promise<any> {
    const { waits, conversation } = this.#parts
    return this.#waiting(async (entrant) => {
      const values = await waits.forTasks(tasks, options, conversation.readThrough ?? 0, entrant)
      return Array.isArray(tasks) ? values : values[0]
    })
  }

  waitForSignal(name: string, options?: SignalOptions): Promise<any> {
    return this.#waiting((entrant) => this.#parts.waits.forSignal(name, options, entrant))
  }

  webhook(given?: { key?: string; schema?: AnswerSchema }): Promise<any> {
    return this.#core.request(async () => {
      const { schema, key } = checkOptions(webhookOptionsSchema, given, 'run.webhook')
      const { id, result: secret } = await this.#drawn(webhookName, key)
      return {
        url: `${this.#core.host.publicUrl ?? ''}${webhookPath(id, secret)}`,
        wait: (options?: SignalOptions) =>
          this.waitForSignal(signalOfWebhook(id), { ...options, ...(schema === undefined ? {} : { schema }) }),
      }
    })
  }

  sleep(ms: Duration, options?: { key?: string }): Promise<void> {
    return this.#waiting((entrant) => this.#parts.waits.sleep(ms, options, entrant))
  }

  race(requests: readonly unknown[]): Promise<any> {
    handleAll(requests)
    return this.#core.request(() => this.#parts.waits.race(requests))
  }

  #waiting<R>(work: (entrant: Entrant) => Promise<R>): Promise<R> {
    const entrant = new Entrant()
    return Waiting.of(
      this.#core.request(() => work(entrant)),
      entrant,
    )
  }

  continueAsNew(input?: unknown): Promise<never> {
    return this.#core.request<never>(() => {
      const { task, host } = this.#core
      const known = { executors: host.executors, anyExecutor: true }
      const kept = host.redaction.value(faithfulImage(input, 'the input', 'input'), 'task', 'input')
      return this.#core.continueWith(checkedInput(task.executor, kept ?? undefined, task.name, known)) as never
    })
  }

  onSuspend(release: () => unknown): () => void {
    checkRelease(release)
    return this.#core.onSuspend(release)
  }

  progress(fraction: number, note?: string): Promise<void> {
    return this.#core.request(() => {
      checkFraction(fraction)
      const text = note === undefined ? null : requireSpokenText(note, 'the note')
      const { ref, host } = this.#core
      return this.#core.busy(() => this.#core.step(reportProgress(ref, fraction, text, host.stepContext())))
    })
  }

  now(options?: { key?: string }): Promise<number> {
    return this.#value('now', options)
  }

  uuid(options?: { key?: string }): Promise<string> {
    return this.#value('uuid', options)
  }

  random(options?: { key?: string }): Promise<number> {
    return this.#value('random', options)
  }

  #value<N extends keyof Draw>(name: N, options: { key?: string } | undefined): Promise<ReturnType<Draw[N]>> {
    return this.#core.request(async () => {
      const { key } = checkOptions(keyOptionsSchema, options, `run.${name}`)
      return (await this.#drawn(name, key)).result
    })
  }

  /**
   * Recorded before it is returned, so that every later run gets the same value and finds the entries that depend on
   * it.
   */
  async #drawn<N extends keyof Draw>(
    name: N,
    key: string | undefined,
  ): Promise<{ id: string; result: ReturnType<Draw[N]> }> {
    const core = this.#core
    const entry = core.describe('value', name, null, key)
    const found = core.find(entry)
    if (found !== undefined) return { id: found.id, result: found.result as ReturnType<Draw[N]> }
    return core.busy(async () => {
      const result = draw[name](core.host) as ReturnType<Draw[N]>
      const record = core.entryOf(entry)
      await core.step(recordValue(record, result))
      return { id: record.id, result }
    })
  }

  dependencies(): Promise<Task[]> {
    const { host, taskId } = this.#core
    return this.#core.request(async () => host.views(await host.read((tx) => dependenciesOf(tx, taskId))))
  }

  get [machineFacilities](): MachineRun {
    return new RunMachineState(this.#core, this.#parts.waits)
  }

  get [agentFacilities](): AgentRun {
    return facilitiesOf(this.#parts, runInCall(this))
  }
}

/**
 * The run as the handler of an ability gets it: without what ends a run. A call in flight keeps its run open, so a
 * question or a wait inside of it would hold the slot forever.
 */
function runInCall(run: Run): Run {
  const refuse =
    (verb: string, act = 'wait') =>
    (): Promise<never> =>
      Promise.reject(
        new ErrandError(
          'INVALID_INPUT',
          `run.${verb} cannot ${act} inside a call, because the call keeps the run open. Call it from the executor, or from a tool of the model.`,
          { verb },
        ),
      )
  return {
    number: run.number,
    attempt: run.attempt,
    signal: run.signal,
    engine: run.engine,
    call: run.call.bind(run) as Run['call'],
    invoke: run.invoke.bind(run) as Run['invoke'],
    message: (...given) => run.message(...given),
    emit: (...given) => run.emit(...given),
    spawn: run.spawn.bind(run) as Run['spawn'],
    onSuspend: (release) => run.onSuspend(release),
    progress: (...given) => run.progress(...given),
    dependencies: () => run.dependencies(),
    now: (...given) => run.now(...given),
    uuid: (...given) => run.uuid(...given),
    random: (...given) => run.random(...given),
    ask: refuse('ask'),
    wait: refuse('wait'),
    waitForSignal: refuse('waitForSignal'),
    webhook: refuse('webhook'),
    sleep: refuse('sleep'),
    race: refuse('race'),
    continueAsNew: refuse('continueAsNew', 'end the run'),
  }
}

/** What the executor of an agent gets in addition to a run. */
function facilitiesOf({ core, calls, conversation, waits }: RunParts, toolRun: Run): AgentRun {
  const { host, task } = core
  return {
    bus: host.bus,
    toolRun,
    clock: host.clock,
    pause: (ms) => core.pause(ms),
    caller: core.caller,
    policy: task.policy,
    modelId: host.modelFor(task),
    defaults: host.agentDefaults,
    onInterrupt: core.onInterrupt,
    chance: () => host.chance(),
    nextId: (prefix) => host.nextId(prefix),
    live: (token, messageId) => conversation.live(token, messageId),
    traceModel: (messages) => traceModel(core, messages),
    pieceReceived: (at) => host.pieceReceived(task.id, at),
    report: (error, doing) => host.report(error, { ...core.ref, doing }),
    isClaimed: async () => {
      if (task.parentId === null) return task.owner !== null
      const above = await core.request(() => host.read((tx) => tx.task.ancestors(task.id)))
      return [task, ...above].some(({ owner }) => owner !== null)
    },
    teamMembership: () => core.request(() => host.membershipOf(task)),
    conversation: () => core.request(() => conversation.read()),
    append: (message) => core.request(() => core.busy(() => conversation.append(message))),
    hold: (work) => calls.drain.hold(work),
    modelFailed: (failure) => core.request(() => core.busy(() => conversation.modelFailed(failure))),
    promptCut: (cut) => core.request(() => core.busy(() => conversation.promptCut(cut))),
    waitFor: (taskIds, options) => core.request(() => waits.forAgent(taskIds, options, conversation.seenThrough)),
    perform: (name, params, fn, way) => core.request(() => calls.perform(name, params, fn, way)),
  }
}
