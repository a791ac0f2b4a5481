// The caller of an ability, and its rights. It is set by the engine or the surface that received the call, never by the arguments of
// the call, because the bus authorizes by it.
import { z } from 'zod'
import { omitUndefined } from '../core/omit-undefined.ts'
import { once } from '../core/once.ts'
import { abilityListSchema } from '../entities/ability-pattern.ts'
import { type CreationBounds, creationBoundsSchema, modelBounds } from '../entities/creation-bounds.ts'
import type { Requester } from '../entities/event.ts'

/**
 * The scope of an ability: `read` changes nothing; `create` adds something new; `control` changes existing things; `admin` is the rest:
 * abilities beyond tasks and their memory, and every ability that declares no scope.
 */
export const accessClasses = ['read', 'create', 'control', 'admin'] as const
export type Access = (typeof accessClasses)[number]

/** What credentials may have: scopes of abilities, and `own`, which restricts them to the tasks of the principal. */
export const scopeNames = [...accessClasses, 'own'] as const
export type Scope = (typeof scopeNames)[number]

/** `admin` includes all scopes; the others include no other. */
export function grants(scopes: readonly Scope[], access: Access): boolean {
  return scopes.includes(access) || scopes.includes('admin')
}

/** The caller of an ability: set by the engine or the surface, never by arguments. */
export interface Caller {
  /** Where the call came from: `library` (the default), `model`, `cli`, `http`, … */
  surface: string
  /** The task whose run, or whose model, calls. Without one the caller is trusted like the program itself. */
  taskId?: string
  /** The run of that task. */
  run?: number
  /** The caller is a model without a task here, as over MCP. It may not call what is for people or programs. */
  model?: true
  /** The owner of the task, or the name from the credentials that the surface has checked. */
  owner?: string
  /**
   * Lists (of the task, its ancestors, its agent) that must ALL allow the ability; absent: no list. A list holds ids, patterns
   * like `module:*`, or `*`; an empty one allows nothing.
   */
  abilities?: ReadonlyArray<readonly string[]>
  /** The scopes of its credentials: an ability of another `access` is refused. Absent: all. */
  scopes?: readonly Scope[]
  /** How many tasks it may create, as a model or for a task. Default: `modelBounds`. */
  bounds?: Partial<CreationBounds>
  /**
   * The changes of a plan that came from outside: it names offered models only, and its keys are those of plans. Set by the engine, and
   * refused from anywhere else.
   */
  plan?: true
  /** How many tasks one call of it may create, with ten dependencies for each. Absent: the engine's limits only. */
  maxTasksPerCall?: number
}

/** True when the caller is a model: that of a task, or a client of a surface. */
export function isModel({ model, surface }: Caller): boolean {
  return model === true || surface === 'model'
}

/** Surfaces through which models act without being the caller: their tools, and files that they write. */
const usedByModels: readonly string[] = ['agent', 'tools', 'files', 's07']

/**
 * Whether a caller may run commands: people and programs may, also from within a run, and clients with the scope `admin`; models, their
 * tools and files, and other clients may not.
 */
export function mayRunCommands(caller: Caller): boolean {
  const { surface, taskId, scopes } = caller
  if (isModel(caller) || usedByModels.includes(surface)) return false
  return (taskId === undefined || surface === 'run') && (scopes?.includes('admin') ?? true)
}

/**
 * Whether a caller may answer questions to people: people and programs may. The run and the model of a task may not, nor models that are
 * clients of a surface, nor what models use.
 */
export function mayAnswerForPeople(caller: Caller): boolean {
  return caller.taskId === undefined && !isModel(caller) && !usedByModels.includes(caller.surface)
}

/** The part of a caller that answers and events record. */
export function recordedCaller({ surface, owner, taskId }: Caller): Requester {
  return omitUndefined({ surface, owner, taskId })
}

/**
 * Whether a caller may name any model, including one that is resolved by its name (`openai:…`, `script:…`), which uses the program's keys
 * and files. All others may only name models that an engine offers. A chat names the model that its program has given it.
 */
export function mayNameAnyModel(caller: Caller): boolean {
  return (mayRunCommands(caller) && !caller.plan) || caller.surface === 'chat'
}

/** The part of a task that records its creator. */
export function creatorOf(caller: Caller): { createdBy: string; mayRunCommands: boolean; principal?: string } {
  const { taskId, owner, surface } = caller
  const principal = principalOf(caller)
  return {
    createdBy: taskId ?? owner ?? surface,
    mayRunCommands: mayRunCommands(caller),
    ...(principal === undefined ? {} : { principal }),
  }
}

/**
 * The creation bounds of a caller: of models, of their tools, and of callers with a task. Programs, people and the code of a run have only
 * the engine's limits.
 */
export function boundsOf(caller: Caller): CreationBounds | undefined {
  const { surface, taskId, bounds } = caller
  const isBounded = isModel(caller) || surface === 'tools' || (taskId !== undefined && surface !== 'run')
  return isBounded ? { ...modelBounds, ...bounds } : undefined
}

/**
 * The principal of the tasks that a caller creates, from its credentials. All clients without a name are one principal. Undefined for
 * programs, and for runs and their models, whose tasks belong to the principal of their own task.
 */
export function principalOf({ owner, scopes, surface, run }: Caller): string | undefined {
  if (run !== undefined) return undefined
  if (owner !== undefined) return `owner:${owner}`
  return scopes === undefined ? undefined : `surface:${surface}`
}

/**
 * The principal whose tasks are all that exist for a caller: those that it created, and the tasks below them. Undefined for a caller without the
 * scope `own`.
 */
export function ownPrincipalOf(caller: Caller): string | undefined {
  return caller.scopes?.includes('own') ? principalOf(caller) : undefined
}

/** Whether its credentials do not allow it to change tasks of others. */
function changesOnlyOwn({ scopes, taskId }: Caller): boolean {
  return taskId === undefined && scopes !== undefined && (scopes.includes('own') || !grants(scopes, 'control'))
}

/** Whether a caller may affect a task: give it a child, or make it wait for another one. */
export function mayAffect(caller: Caller, principal: string | null | undefined): boolean {
  return !changesOnlyOwn(caller) || (principal != null && principal === principalOf(caller))
}

/** Whether a caller may learn that a task that it names exists. */
export function mayKnowOf(caller: Caller, principal: string | null | undefined): boolean {
  const { scopes = [] } = caller
  return mayAffect(caller, principal) || (!scopes.includes('own') && grants(scopes, 'read'))
}

/** The surfaces of the program that holds the engine. */
const ownSurfaces: readonly string[] = ['library', 'engine']

/** The requester that events record; undefined for the program itself, whose instance id is in each event. */
export function requesterOf(caller: Caller): Requester | undefined {
  const { surface, owner, taskId } = caller
  if (ownSurfaces.includes(surface) && owner === undefined && taskId === undefined) return undefined
  return recordedCaller(caller)
}

/** Strict, because a caller with a misspelled `taskId` would count as the program itself. */
export const callerSchema: () => z.ZodType<Caller> = once(() =>
  z.strictObject({
    surface: z.string().min(1).max(100),
    taskId: z.string().min(1).max(100).exactOptional(),
    run: z.int().min(1).exactOptional(),
    owner: z.string().min(1).max(100).exactOptional(),
    model: z.literal(true).exactOptional(),
    abilities: z.array(abilityListSchema).max(1000).exactOptional(),
    scopes: z.array(z.enum(scopeNames)).max(100).exactOptional(),
    bounds: creationBoundsSchema.exactOptional(),
    maxTasksPerCall: z.int().min(1).exactOptional(),
  }),
)

const checkedCallers = new WeakSet<Caller>()

/** Marks a caller that a surface has made of checked credentials, so that the bus does not check it again for each call. */
export function checkedCaller(caller: Caller): Caller {
  checkedCallers.add(Object.freeze(caller))
  return caller
}

export function isChecked(caller: Caller | undefined): boolean {
  return caller !== undefined && checkedCallers.has(caller)
}

/** The default caller. */
export const libraryCaller: Caller = checkedCaller({ surface: 'library' })
