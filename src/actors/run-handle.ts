// The run as its executor holds it: what is asked for is checked, recorded before it is done, and refused after the end.
import { type AgentRun, agentFacilities } from '../agent-run.ts'
import { failureWithin } from '../bus/ability-error.ts'
import type { MessageRole } from '../entities/message.ts'
import type { Task } from '../entities/task.ts'
import type { AnswerSchema, AskOptions, InvokeOptions, Run, SpawnOptions, SpawnSpec, WaitOptions } from '../executor.ts'
import { checkText } from '../json.ts'
import { emitOptionsSchema, invokeOptionsSchema, keyOptionsSchema } from '../options.ts'
import { requireText } from '../parse.ts'
import { dependenciesOf } from '../steps/explain.ts'
import { reportProgress } from '../steps/journal.ts'
import { facilitiesOf } from './agent-facilities.ts'
import type { CallFunction } from './perform-call.ts'
import { callArguments, checkFraction, checkMessage, checkOptions } from './run-arguments.ts'
import type { CallWay } from './run-calls.ts'
import type { RunCore } from './run-core.ts'
import { runInCall } from './run-in-call.ts'
import type { RunParts } from './run-parts.ts'
import { spawnInRun } from './run-spawns.ts'
import { valueInRun } from './run-values.ts'

/** Waiting is no call: nothing of it is in flight, so the run can end meanwhile and give its slot back. */
const waitAbility = 'task:wait'

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
      const known = host.bus.get(id)
      if (known !== undefined && id === waitAbility) {
        return this.#parts.waits.forAbility(known.parseInput(input ?? {}), options.key)
      }
      const fn: CallFunction = async (params, { signal, callId, identity, note }) => {
        try {
          return await host.bus.call(id, params, { caller, signal, run: runInCall(this), callId, identity, note })
        } catch (error) {
          throw failureWithin(error)
        }
      }
      return this.#parts.calls.make(id, input ?? {}, fn, {
        onInterrupt: options.onInterrupt ?? known?.onInterrupt,
        retry: options.retry ?? known?.retry,
        timeoutMs: options.timeoutMs ?? known?.timeoutMs,
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
      return this.#core.busy(() => this.#parts.messages.write(role, content, key))
    })
  }

  emit(chunk: string, options?: { store?: boolean }): void {
    if (this.#core.ended) return
    const { store } = checkOptions(emitOptionsSchema, options, 'run.emit')
    const text = checkText(String(chunk), 'the output')
    if (store) this.#parts.output.add(text)
    else this.#core.host.live(this.#core.taskId, { content: text })
  }

  ask<T = unknown>(question: string, schema?: AnswerSchema | null, options?: AskOptions): Promise<T> {
    return this.#core.request(() => this.#parts.waits.ask<T>(question, schema, options))
  }

  spawn(specs: SpawnSpec | SpawnSpec[], options?: SpawnOptions): Promise<any> {
    return this.#core.request(() => spawnInRun(this.#core, specs, options))
  }

  wait(tasks: string | { id: string } | ReadonlyArray<string | { id: string }>, options?: WaitOptions): Promise<any> {
    const { waits, conversation } = this.#parts
    return this.#core.request(() => waits.forTasks(tasks, options, conversation.readThrough ?? 0))
  }

  sleep(ms: number, options?: { key?: string }): Promise<void> {
    return this.#core.request(() => this.#parts.waits.sleep(ms, options))
  }

  progress(fraction: number, note?: string): Promise<void> {
    return this.#core.request(() => {
      checkFraction(fraction)
      const text = note === undefined ? null : requireText(note, 'the note')
      const { ref, host } = this.#core
      return this.#core.busy(() => this.#core.step(reportProgress(ref, fraction, text, host.moment())))
    })
  }

  now(options?: { key?: string }): Promise<number> {
    return this.#core.request(() => valueInRun(this.#core, 'now', options))
  }

  uuid(options?: { key?: string }): Promise<string> {
    return this.#core.request(() => valueInRun(this.#core, 'uuid', options))
  }

  random(options?: { key?: string }): Promise<number> {
    return this.#core.request(() => valueInRun(this.#core, 'random', options))
  }

  dependencies(): Promise<Task[]> {
    const { host, taskId } = this.#core
    return this.#core.request(async () => host.views(await host.read((tx) => dependenciesOf(tx, taskId))))
  }

  get [agentFacilities](): AgentRun {
    return facilitiesOf(this.#parts, runInCall(this))
  }
}
