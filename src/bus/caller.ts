// Who calls an ability. The bus judges by it, so it comes from the engine or the surface that took the call, never from
// what the call says about itself.
import { z } from 'zod'
import { defined } from '../core/defined.ts'
import { abilityListSchema } from '../entities/ability-pattern.ts'
import { type CreationBounds, creationBoundsSchema, modelBounds } from '../entities/creation-bounds.ts'
import type { Requester } from '../entities/event.ts'

/**
 * How far an ability reaches: `read` changes nothing; `create` makes something new; `control` changes what is there; `admin` is all the
 * rest: what reaches beyond tasks and their memory, and every ability that says nothing about itself.
 */
export const accessClasses = ['read', 'create', 'control', 'admin'] as const
export type Access = (typeof accessClasses)[number]

/** `admin` holds all; of the others none holds another. */
export function grants(scopes: readonly Access[], access: Access): boolean {
  return scopes.includes(access) || scopes.includes('admin')
}

/** Who calls: known from the engine or the surface, never from arguments. */
export interface Caller {
  /** Where the call came in: `library` (the default), `model`, `cli`, `http`, … */
  surface: string
  /** The task whose run, or whose model, calls. Without one the caller is trusted like the program itself. */
  taskId?: string
  /** The run of that task. */
  run?: number
  /** A model is at the other end though no task of ours is, as behind MCP: what is for people or programs is not for it. */
  model?: true
  /** Who owns the task, or whose credentials the surface has checked. */
  owner?: string
  /**
   * Lists (of the task, its ancestors, its agent) that must ALL allow the ability; absent: no list. A list holds ids, patterns
   * like `module:*`, or `*`; an empty one allows nothing.
   */
  abilities?: ReadonlyArray<readonly string[]>
  /** What its credentials are good for: an ability of another `access` is refused. Absent: all. */
  scopes?: readonly Access[]
  /** How many tasks it may create, as a model or for a task. Default: `modelBounds`. */
  bounds?: Partial<CreationBounds>
  /**
   * The changes of a plan that came from outside: it names offered models only, and its keys are those of plans. Set by the engine, and
   * refused from anywhere else.
   */
  plan?: true
  /** How many tasks one call of it may create, with ten dependencies for each. Absent: as many as the engine allows. */
  maxTasksPerCall?: number
}

/** A model has chosen what is asked for: one of a task here, or one at the other end of a surface. */
export function isModel({ model, surface }: Caller): boolean {
  return model === true || surface === 'model'
}

/** What models use, and what stands in files that they write, though it is no model that calls. */
const usedByModels: readonly string[] = ['agent', 'tools', 'files', 's07']

/**
 * Whether a caller may have commands run: people and programs may, also from within a run, and clients whose credentials hold everything;
 * models, their tools and files, and clients with less may not.
 */
export function mayRunCommands(caller: Caller): boolean {
  const { surface, taskId, scopes } = caller
  if (isModel(caller) || usedByModels.includes(surface)) return false
  return (taskId === undefined || surface === 'run') && (scopes?.includes('admin') ?? true)
}

/**
 * Whether a caller may answer for people: people and programs may. A task's run and model may not, nor a model behind a surface, nor what
 * models use.
 */
export function mayAnswerForPeople(caller: Caller): boolean {
  return caller.taskId === undefined && !isModel(caller) && !usedByModels.includes(caller.surface)
}

/** What an answer, and the events of a change, record of a caller. */
export function recordedCaller({ surface, owner, taskId }: Caller): Requester {
  return defined({ surface, owner, taskId })
}

/**
 * Whether a caller may name any model, one that is only made when it is asked for included (`openai:…`, `script:…`): that takes the
 * program's keys and files. Everybody else names models that an engine offers. A chat names the one that its program has given it.
 */
export function mayNameAnyModel(caller: Caller): boolean {
  return (mayRunCommands(caller) && !caller.plan) || caller.surface === 'chat'
}

/** What a task records of who created it. */
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
 * The bounds of what a caller creates: those of models and of their tools, and of who speaks for one task. Programs, people and the code of
 * a run have none but the engine's.
 */
export function boundsOf(caller: Caller): CreationBounds | undefined {
  const { surface, taskId, bounds } = caller
  const isBounded = isModel(caller) || surface === 'tools' || (taskId !== undefined && surface !== 'run')
  return isBounded ? { ...modelBounds, ...bounds } : undefined
}

/**
 * Whose tasks a caller creates: what its credentials say. Clients without a name are one principal. Undefined for programs, and for runs
 * and their models, whose tasks belong to whom their own task belongs.
 */
export function principalOf({ owner, scopes, surface, run }: Caller): string | undefined {
  if (run !== undefined) return undefined
  if (owner !== undefined) return `owner:${owner}`
  return scopes === undefined ? undefined : `surface:${surface}`
}

/** Whether its credentials are good for nothing that changes other tasks than its own. */
function onlyCreates({ scopes, taskId }: Caller): boolean {
  return taskId === undefined && scopes !== undefined && !grants(scopes, 'control')
}

/** Whether a caller may change what becomes of a task: give it a child, or let it wait for another one. */
export function mayAffect(caller: Caller, principal: string | undefined): boolean {
  return !onlyCreates(caller) || (principal !== undefined && principal === principalOf(caller))
}

/** Whether a caller may hear of a task that it names. */
export function mayKnowOf(caller: Caller, principal: string | undefined): boolean {
  return mayAffect(caller, principal) || grants(caller.scopes ?? [], 'read')
}

/** What speaks for the program that holds the engine. */
const ownSurfaces: readonly string[] = ['library', 'engine']

/** What events record of who asked for a change; undefined for the program itself, whose instance stands in each event. */
export function requesterOf(caller: Caller): Requester | undefined {
  const { surface, owner, taskId } = caller
  if (ownSurfaces.includes(surface) && owner === undefined && taskId === undefined) return undefined
  return recordedCaller(caller)
}

/** Strict: a caller whose `taskId` is misspelled would pass for the program itself. */
export const callerSchema: z.ZodType<Caller> = z.strictObject({
  surface: z.string().min(1).max(100),
  taskId: z.string().min(1).max(100).exactOptional(),
  run: z.int().min(1).exactOptional(),
  owner: z.string().min(1).max(100).exactOptional(),
  model: z.literal(true).exactOptional(),
  abilities: z.array(abilityListSchema).max(1000).exactOptional(),
  scopes: z.array(z.enum(accessClasses)).max(100).exactOptional(),
  bounds: creationBoundsSchema.exactOptional(),
  maxTasksPerCall: z.int().min(1).exactOptional(),
})

/** Who calls when nobody says. */
export const libraryCaller: Caller = Object.freeze({ surface: 'library' })
