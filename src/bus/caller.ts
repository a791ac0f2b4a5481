// Who calls an ability. The bus judges by it, so it comes from the engine or the surface that took the call, never from
// what the call says about itself.
import { z } from 'zod'
import { defined } from '../defined.ts'
import { abilityListSchema } from '../entities/ability-pattern.ts'
import type { Requester } from '../entities/event.ts'
import type { AnsweredBy } from '../entities/question.ts'

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

/** What an answer records of who gave it. */
export function answererOf({ surface, owner, taskId }: Caller): AnsweredBy {
  return defined({ surface, owner, taskId })
}

/**
 * Whether a caller may name any model, one that is only made when it is asked for included (`openai:…`, `script:…`): that takes the
 * program's keys and files. Everybody else names models that an engine offers. A chat names the one that its program has given it.
 */
export function mayNameAnyModel(caller: Caller): boolean {
  return mayRunCommands(caller) || caller.surface === 'chat'
}

/** What a task records of who created it. */
export function creatorOf(caller: Caller): { createdBy: string; mayRunCommands: boolean } {
  return { createdBy: caller.taskId ?? caller.owner ?? caller.surface, mayRunCommands: mayRunCommands(caller) }
}

/** What speaks for the program that holds the engine. */
const ownSurfaces: readonly string[] = ['library', 'engine']

/** What events record of who asked for a change; undefined for the program itself, whose instance stands in each event. */
export function requesterOf({ surface, owner, taskId }: Caller): Requester | undefined {
  if (ownSurfaces.includes(surface) && owner === undefined && taskId === undefined) return undefined
  return defined({ surface, owner, taskId })
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
})

/** Who calls when nobody says. */
export const libraryCaller: Caller = Object.freeze({ surface: 'library' })
