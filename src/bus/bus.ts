// The bus: the registry through which all surfaces call the engine. It finds an ability, checks the caller and the input, runs the
// handler, checks the output, and logs the call.
/* oxlint-disable max-lines -- The interface of the bus with its documentation, and the one class behind it. */
import { z } from 'zod'
import type { Clock } from '../core/clock.ts'
import { ErrandError } from '../core/errors.ts'
import { safeReporter } from '../core/guarded.ts'
import { once } from '../core/once.ts'
import { clockSchema, functionOf, parse, requireFunction, requireText } from '../core/parse.ts'
import { messageOf } from '../core/stored-error.ts'
import { dependenciesPerTask } from '../entities/creation-bounds.ts'
import type { Run } from '../entities/executor.ts'
import { type Ability, type AbilityDefinition, defineAbility, isAbility } from './ability.ts'
import type { AbilityContext } from './ability-context.ts'
import { abilityError, abortedError, noteCalled, notFound, shownId, typeMismatch } from './ability-error.ts'
import type { AbilityTypes, ChunkOfAbility, InputOfAbility, OutputOfAbility } from './ability-types.ts'
import { type CallListener, CallLog, type CallLogEntry, type LogOptions } from './call-log.ts'
import { type Caller, callerSchema, isChecked, isModel, libraryCaller, ownPrincipalOf } from './caller.ts'
import { mayCall } from './capabilities.ts'
import { readChunks, requireChunks } from './chunks.ts'
import { introspectionAbilities } from './introspection.ts'
import { type JsonAbilityMeta, type JsonHandler, jsonAbility } from './json-ability.ts'
import { readJson } from './json-input.ts'
import type { AbilitySchema } from './json-schema.ts'
import { Listeners } from './listeners.ts'
import { readFor } from './read-principal.ts'
import { type ToolTable, toolTable } from './tool-names.ts'

/** Options of an invocation. The run and the journaled call are passed to the handler in its context. */
export interface InvokeOptions extends Pick<AbilityContext, 'run' | 'callId' | 'identity' | 'note' | 'onUndelivered'> {
  /** Default: the program itself. */
  caller?: Caller
  /** Abandons the call: an invocation that has not begun is refused, a stream ends, the handler's signal aborts, and a long read of an ability that only reads ends. */
  signal?: AbortSignal
}

/**
 * Throws when a caller with a task may not name these tasks. Called only for abilities with a `scope`, with the ids that it returns.
 */
export type Guard = (caller: Caller, taskIds: readonly string[], abilityId: string) => void | Promise<void>

export interface BusOptions {
  /** For the times in the log. Default: the system's. */
  clock?: Clock
  /** Maximum of invocations in the log. Default 1000. */
  logSize?: number
  /** Receives the errors of listeners. Default: a warning of the process. */
  onError?: (error: unknown, context: Record<string, unknown>) => void
}

/** Calls with values instead of JSON text; `T` holds the types of abilities by id. */
export interface BusCalls<T> {
  /** Typed by the ability itself, or by its id if `T` has it. */
  call<In, Out, Drained>(ability: Ability<In, Out, Drained>, input: In, options?: InvokeOptions): Promise<Drained>
  call<K extends keyof T>(
    abilityId: K,
    input: InputOfAbility<K, T>,
    options?: InvokeOptions,
  ): Promise<OutputOfAbility<K, T>>
  call<S extends string>(
    abilityId: S extends keyof T ? never : S,
    input: unknown,
    options?: InvokeOptions,
  ): Promise<unknown>
  /** The same for streams. */
  stream<In, Out, Drained>(
    ability: Ability<In, Out, Drained>,
    input: In,
    options?: InvokeOptions,
  ): AsyncGenerator<Out, void, undefined>
  stream<K extends keyof T>(
    abilityId: K,
    input: InputOfAbility<K, T>,
    options?: InvokeOptions,
  ): AsyncGenerator<ChunkOfAbility<K, T>, void, undefined>
  stream<S extends string>(
    abilityId: S extends keyof T ? never : S,
    input: unknown,
    options?: InvokeOptions,
  ): AsyncGenerator<unknown, void, undefined>
}

/**
 * The registry of abilities. Every refusal and every failure is an `ErrandError` whose details name the ability. They are checked in this
 * order: NOT_FOUND, FORBIDDEN (the caller may not call it), TYPE_MISMATCH, LIMIT_EXCEEDED (it would create more tasks than the caller may
 * in one call), INVALID_INPUT { issues }, FORBIDDEN (it names tasks that are not the caller's), then errors of the handler: an ErrandError
 * unchanged, any other as EXECUTION_ERROR with the same message and the thrown error as `cause`.
 */
export interface Bus extends BusCalls<AbilityTypes> {
  /**
   * Registers an ability; the returned function unregisters it.
   * @throws ErrandError ALREADY_REGISTERED { abilityId }
   */
  register<I extends AbilitySchema, O extends AbilitySchema, D>(ability: AbilityDefinition<I, O, D>): () => void
  register(ability: Ability): () => void
  /** The same for a handler that takes and returns JSON text. */
  register(meta: JsonAbilityMeta, handler: JsonHandler): () => void
  /** Removes an ability; an unknown id is ignored. */
  unregister(abilityId: string): void
  /** Calls the listener for each ability that is registered from now on; the returned function removes it. */
  onRegister(listener: (ability: Ability) => void): () => void
  /** Calls the listener for each ability that is unregistered from now on; the returned function removes it. */
  onUnregister(listener: (ability: Ability) => void): () => void
  has(abilityId: string): boolean
  get(abilityId: string): Ability | undefined
  /** All, sorted by id. */
  abilities(): Ability[]

  /** Takes and returns JSON text. The returned function can be called any number of times. */
  invoke(abilityId: string): (json: string, options?: InvokeOptions) => Promise<string>
  /** The same for streams: one JSON text per chunk. The handler starts when the first chunk is read. */
  invokeStream(abilityId: string): (json: string, options?: InvokeOptions) => AsyncGenerator<string, void, undefined>

  /**
   * Adds a guard for the tasks that an input names; all guards must allow them. Without a guard a caller with a task may name only that
   * task. The returned function removes the guard.
   */
  useGuard(guard: Guard): () => void
  /**
   * The tools for a caller: the abilities for models that it may call, that return one result, and that take an object.
   * `reserved` names are not used.
   */
  toolsFor(caller: Caller, reserved?: Iterable<string>): ToolTable
  /** The latest invocations, refused ones too, newest last. */
  log(options?: LogOptions): CallLogEntry[]
  /** Calls the listener with each invocation when it ends; the returned function removes it. */
  onCall(listener: CallListener): () => void
}

const optionsSchema = once(() =>
  z.strictObject({
    clock: clockSchema,
    logSize: z.int().min(0).max(1_000_000).default(1000),
    onError: functionOf<NonNullable<BusOptions['onError']>>('(error, context)')
      .default(() => warn)
      .transform(safeReporter),
  }),
)

const invokeOptionsSchema = once(() => invokeOptionsWith(callerSchema()))
/** The options of a surface whose caller is checked. */
const surfaceOptionsSchema = once(() => invokeOptionsWith(z.custom<Caller>()))

function invokeOptionsWith(caller: z.ZodType<Caller>) {
  return z.strictObject({
    caller: caller.optional(),
    signal: z.instanceof(AbortSignal).optional(),
    callId: z.string().min(1).max(100).optional(),
    identity: z.string().min(1).max(500).optional(),
    note: functionOf<(details: unknown) => Promise<void>>('(details)').optional(),
    onUndelivered: functionOf<NonNullable<AbilityContext['onUndelivered']>>('(giveBack)').optional(),
    run: z.custom<Run>((value) => typeof value === 'object' && value !== null, 'expected a run').optional(),
  })
}

const logOptionsSchema = once(() =>
  z.strictObject({
    limit: z.int().min(0).exactOptional(),
    abilityId: z.string().exactOptional(),
  }),
)

/**
 * Creates a bus. It describes itself through `bus:list`, `bus:abilities`, `bus:schema` and `bus:inspect`.
 * @throws ErrandError UNKNOWN_OPTION, INVALID_INPUT
 */
export function createBus(options: BusOptions = {}): Bus {
  return new AbilityBus(parse(optionsSchema, options, 'createBus'))
}

/**
 * Calls `register` before the bus is first used, and never if it is not: a program that only calls methods of the engine does not wait
 * until a hundred abilities are made. The returned function calls what `register` returned. Only for a bus that no other code has.
 */
export function registerBeforeUse(bus: Bus, register: () => () => void): () => void {
  return (bus as AbilityBus).registerBeforeUse(register)
}

/** A call for a result, or for chunks. */
type Wanted = 'result' | 'chunks'

interface Invocation {
  abilityId: string
  wanted: Wanted
  /** The input, read from JSON text where it is text. */
  read: () => unknown
  context: AbilityContext
  /** Whether all checks have passed, after which the handler is called. */
  isChecked: boolean
}

interface Prepared {
  ability: Ability
  input: unknown
  context: AbilityContext
}

class AbilityBus implements Bus {
  readonly #clock: Clock
  readonly #log: CallLog
  readonly #registered = new Map<string, Ability>()
  readonly #waiting = new Set<() => void>()
  readonly #guards = new Set<{ guard: Guard }>()
  readonly #onRegister: Listeners<Ability>
  readonly #onUnregister: Listeners<Ability>

  constructor({ clock, logSize, onError }: z.output<ReturnType<typeof optionsSchema>>) {
    this.#clock = clock
    this.#log = new CallLog(logSize, onError)
    const report = (error: unknown, { id }: Ability): void =>
      onError(error, { abilityId: id, doing: 'notify a listener of registrations' })
    this.#onRegister = new Listeners(report)
    this.#onUnregister = new Listeners(report)
    this.#waiting.add(() => {
      for (const ability of introspectionAbilities(this)) this.register(ability)
    })
  }

  get #abilities(): Map<string, Ability> {
    for (const register of this.#waiting) {
      this.#waiting.delete(register)
      register()
    }
    return this.#registered
  }

  registerBeforeUse(register: () => () => void): () => void {
    let unregister = (): void => void this.#waiting.delete(waiting)
    const waiting = (): void => {
      unregister = register()
    }
    this.#waiting.add(waiting)
    return () => unregister()
  }

  register(given: Ability | AbilityDefinition | JsonAbilityMeta, handler?: JsonHandler): () => void {
    const ability = toAbility(given, handler)
    const { id } = ability
    if (this.#abilities.has(id)) {
      throw new ErrandError(
        'ALREADY_REGISTERED',
        `Ability ${id} is already registered. Unregister it first, or choose another id.`,
        { abilityId: id },
      )
    }
    this.#abilities.set(id, ability)
    this.#onRegister.notify(ability)
    return () => {
      if (this.#abilities.get(id) === ability) this.unregister(id)
    }
  }

  unregister(abilityId: string): void {
    const ability = this.#abilities.get(abilityId)
    if (ability !== undefined && this.#abilities.delete(abilityId)) this.#onUnregister.notify(ability)
  }

  onRegister(listener: (ability: Ability) => void): () => void {
    void this.#abilities
    return this.#onRegister.add(listener)
  }

  onUnregister(listener: (ability: Ability) => void): () => void {
    return this.#onUnregister.add(listener)
  }

  has(abilityId: string): boolean {
    return this.#abilities.has(abilityId)
  }

  get(abilityId: string): Ability | undefined {
    return this.#abilities.get(abilityId)
  }

  abilities(): Ability[] {
    return [...this.#abilities.values()].sort((a, b) => (a.id < b.id ? -1 : 1))
  }

  invoke(abilityId: string): (json: string, options?: InvokeOptions) => Promise<string> {
    return async (json, options) => {
      const invocation = toInvocation(abilityId, 'result', () => readJson(json, shownId(abilityId)), options)
      return this.#logged(invocation, async () => toText(await this.#result(invocation), abilityId))
    }
  }

  invokeStream(abilityId: string): (json: string, options?: InvokeOptions) => AsyncGenerator<string, void, undefined> {
    return (json, options) => {
      const read = (): unknown => readJson(json, shownId(abilityId))
      return this.#chunks(abilityId, read, options, (chunk) => toText(chunk, abilityId))
    }
  }

  async call(target: string | Ability, input: unknown, options?: InvokeOptions): Promise<never> {
    const invocation = toInvocation(idOf(target), 'result', () => input, options)
    return this.#logged(invocation, async () => (await this.#result(invocation)) as never)
  }

  stream(target: string | Ability, input: unknown, options?: InvokeOptions): AsyncGenerator<never, void, undefined> {
    return this.#chunks(
      idOf(target),
      () => input,
      options,
      (chunk) => chunk as never,
    )
  }

  useGuard(guard: Guard): () => void {
    const held = { guard: requireFunction(guard, 'a guard') }
    this.#guards.add(held)
    return () => void this.#guards.delete(held)
  }

  toolsFor(caller: Caller, reserved: Iterable<string> = []): ToolTable {
    const checked = parse(callerSchema, caller, 'The caller')
    return toolTable(
      this.abilities().filter((ability) => isToolFor(ability, checked)),
      reserved,
    )
  }

  log(options: LogOptions = {}): CallLogEntry[] {
    return this.#log.list(parse(logOptionsSchema, options, 'log'))
  }

  onCall(listener: CallListener): () => void {
    return this.#log.listeners.add(listener)
  }

  /** Logs the work when it ends, and adds the ability's id to its errors. */
  async #logged<T>(invocation: Invocation, work: () => Promise<T>): Promise<T> {
    const entry = this.#begin(invocation)
    try {
      const result = await work()
      entry.end()
      return result
    } catch (error) {
      throw entry.end(error)
    }
  }

  async #result(invocation: Invocation): Promise<unknown> {
    const prepared = await this.#prepare(invocation)
    const { ability } = prepared
    if (ability.handle !== undefined) return ability.parseOutput(await handled(prepared))
    const chunks: unknown[] = []
    for await (const chunk of chunksOf(prepared)) chunks.push(chunk)
    return ability.drain?.(chunks)
  }

  async *#chunks<T>(
    abilityId: string,
    read: () => unknown,
    options: InvokeOptions | undefined,
    shape: (chunk: unknown) => T,
  ): AsyncGenerator<T, void, undefined> {
    const invocation = toInvocation(abilityId, 'chunks', read, options)
    const entry = this.#begin(invocation)
    try {
      for await (const chunk of chunksOf(await this.#prepare(invocation))) yield shape(chunk)
    } catch (error) {
      throw entry.end(error)
    } finally {
      entry.end()
    }
  }

  /** All checks before the handler, which is called only when they pass. */
  async #prepare(invocation: Invocation): Promise<Prepared> {
    const { abilityId, wanted, context } = invocation
    const { caller, signal } = context
    const ability = this.#abilities.get(abilityId)
    if (ability === undefined) throw notFound(abilityId, this.#idsCallableBy(caller))
    const verdict = mayCall(ability, caller)
    if (verdict !== true) throw forbidden(ability.id, caller, verdict)
    const canGive = wanted === 'chunks' ? ability.isStream : !ability.isStream || ability.drain !== undefined
    if (!canGive) throw typeMismatch(ability.id, ability.isStream)
    const given = invocation.read()
    refuseTooMany(ability, given, caller)
    const input = ability.parseInput(given, isModel(caller))
    await this.#guard(ability, input, caller)
    if (signal.aborted) throw abortedError(signal.reason, ability.id)
    invocation.isChecked = true
    return { ability, input, context }
  }

  /** The ids that may be suggested to a caller. */
  #idsCallableBy(caller: Caller): string[] {
    return this.abilities()
      .filter((ability) => mayCall(ability, caller) === true)
      .map(({ id }) => id)
  }

  async #guard({ id, scope }: Ability, input: unknown, caller: Caller): Promise<void> {
    const isRestricted = caller.taskId !== undefined || ownPrincipalOf(caller) !== undefined
    if (!isRestricted || scope === undefined) return
    const named = [...new Set(scope(input))]
    const others = named.filter((taskId) => taskId !== caller.taskId)
    if (this.#guards.size === 0 && others.length > 0) {
      throw forbidden(id, caller, `it names ${others.join(', ')}, and the bus has no guard to check whose task that is`)
    }
    for (const { guard } of this.#guards) {
      try {
        await guard(caller, named, id)
      } catch (error) {
        throw ErrandError.isInstance(error) ? error : forbidden(id, caller, messageOf(error), error)
      }
    }
  }

  /** Opens an entry of the log. `end` closes it once, and returns the error as it leaves the bus. */
  #begin(invocation: Invocation): { end(thrown?: unknown): ErrandError | undefined } {
    const { abilityId, context } = invocation
    const { caller } = context
    const { abilities: _lists, bounds: _bounds, maxTasksPerCall: _max, ...known } = caller
    const at = this.#clock.now()
    let open = true
    return {
      end: (...thrown) => {
        const error = thrown.length === 0 ? undefined : abilityError(thrown[0], shownId(abilityId))
        if (error !== undefined) noteCalled(error, invocation.isChecked)
        if (!open) return error
        open = false
        const durationMs = Math.max(0, this.#clock.now() - at)
        const ended = error === undefined ? { ok: true } : { ok: false, code: error.code }
        this.#log.add({ at, abilityId: shownId(abilityId), caller: known, durationMs, ...ended })
        return error
      },
    }
  }
}

function toAbility(given: Ability | AbilityDefinition | JsonAbilityMeta, handler: JsonHandler | undefined): Ability {
  if (isAbility(given)) return given
  if (handler !== undefined) return jsonAbility(given as JsonAbilityMeta, handler)
  return defineAbility(given as Parameters<typeof defineAbility>[0])
}

function toInvocation(abilityId: string, wanted: Wanted, read: () => unknown, options: InvokeOptions = {}): Invocation {
  // Of null and texts, the schema says what is wrong.
  const schema = isChecked((options as InvokeOptions | null)?.caller) ? surfaceOptionsSchema : invokeOptionsSchema
  const given = parse(schema, options, 'The options')
  return {
    abilityId: requireText(abilityId, 'the id of an ability'),
    wanted,
    read,
    isChecked: false,
    context: {
      ...given,
      caller: given.caller ?? libraryCaller,
      // A new signal for each call: listeners that a handler leaves on a shared one would never be removed.
      signal: given.signal ?? new AbortController().signal,
    },
  }
}

/** Called before the schema parses the input, because parsing a hundred thousand tasks is what the limit prevents. */
function refuseTooMany({ id, creationIn }: Ability, given: unknown, { maxTasksPerCall: maxTasks }: Caller): void {
  if (maxTasks === undefined || creationIn === undefined) return
  const { tasks, dependencies } = creationIn(given)
  if (tasks > maxTasks) {
    throw new ErrandError(
      'LIMIT_EXCEEDED',
      `${id} is asked for ${tasks} tasks at once, and one request may create ${maxTasks}. Create them in several requests: \`parentId\` adds tasks to an existing parent.`,
      { abilityId: id, limit: 'maxTasksPerRequest', value: maxTasks, tasks },
    )
  }
  const value = maxTasks * dependenciesPerTask
  if (dependencies <= value) return
  throw new ErrandError(
    'LIMIT_EXCEEDED',
    `${id} is asked for ${dependencies} dependencies at once, and one request may create ${value}. Create the tasks in several requests: \`blockedBy\` also takes existing tasks. Or let many tasks depend on one task that depends on the others.`,
    { abilityId: id, limit: 'maxDependenciesPerRequest', value, dependencies },
  )
}

/** A read ends when its caller has abandoned it; a change goes on, so that it is not left incomplete. */
async function handled({ ability, input, context }: Prepared): Promise<unknown> {
  const { caller, signal } = context
  try {
    const ending = ability.access === 'read' ? signal : undefined
    return await readFor(caller, ending, () => ability.handle?.(input, context))
  } catch (error) {
    throw signal.aborted && error === signal.reason ? abortedError(error, ability.id) : error
  }
}

async function* chunksOf({ ability, input, context }: Prepared): AsyncGenerator<unknown, void, undefined> {
  const source = requireChunks(ability.stream?.(input, context), `The stream of ${ability.id}`, ability.id)
  const aborted = (reason: unknown): Error => abortedError(reason, ability.id)
  for await (const chunk of readChunks(source, context.signal, aborted)) yield ability.parseOutput(chunk)
}

/** Models pass the arguments of a tool as an object; an ability that takes a text cannot be a tool. */
function isToolFor(ability: Ability, caller: Caller): boolean {
  if (!ability.models || ability.isStream || mayCall(ability, caller) !== true) return false
  // Last, because the JSON form of a schema is made when it is first read.
  const { type = 'object' } = ability.inputSchema
  return type === 'object'
}

function toText(output: unknown, abilityId: string): string {
  try {
    const text = output === undefined ? 'null' : JSON.stringify(output)
    if (text !== undefined) return text
  } catch (error) {
    throw noJson(abilityId, messageOf(error), error)
  }
  throw noJson(abilityId, `a ${typeof output} has no JSON image`)
}

function noJson(abilityId: string, why: string, cause?: unknown): ErrandError {
  return new ErrandError(
    'EXECUTION_ERROR',
    `Ability ${abilityId} returned an output that cannot be converted to JSON: ${why}. Use \`call\` or \`stream\` for live objects.`,
    { abilityId },
    cause,
  )
}

function forbidden(abilityId: string, { taskId, surface }: Caller, why: string, cause?: unknown): ErrandError {
  const who = taskId === undefined ? `the caller (${surface})` : `task ${taskId}`
  return new ErrandError(
    'FORBIDDEN',
    `Ability ${abilityId} is not open to ${who}: ${why}.`,
    { abilityId, taskId },
    cause,
  )
}

function idOf(target: string | Ability): string {
  return typeof target === 'string' ? target : target.id
}

function warn(error: unknown, context: Record<string, unknown>): void {
  process.emitWarning(`errand: could not ${String(context['doing'])}: ${messageOf(error)}`)
}
