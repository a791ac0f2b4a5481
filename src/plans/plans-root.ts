// The folder in which the commands of plans from outside begin. It is compared by real paths, so that no link and no `..` leads out of it.
// It is not a fence: a command has the rights of the engine's process.
import { lstatSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path'
import { ErrandError } from '../core/errors.ts'
import { isGoal, type Plan, type PlanTask } from './plan.ts'

export class PlansRoot {
  /** Real path. */
  readonly folder: string

  /** @throws ErrandError NOT_FOUND { folder } when it is not a folder. */
  constructor(folder: string) {
    this.folder = openFolder(folder)
  }

  /**
   * Requires that every command of a plan begins in this folder or below it. Only `run` and the executor `shell` say where they begin: other
   * executors that run commands are refused.
   *
   * @param runsCommands whether an executor does; null: it is not known here.
   * @throws ErrandError FORBIDDEN { task }
   */
  require(plan: Plan, runsCommands: (executor: string) => boolean | null): void {
    for (const task of plan.byPath.values()) {
      const { executor } = task.spec
      if (executor === undefined || isGoal(task)) continue
      if (executor === 'shell') this.#requireFolder(task)
      else if (runsCommands(executor) !== false) {
        const why = `its executor "${executor}" may run commands, and the folder where they begin is not known. Use \`run\``
        throw refused(task, why)
      }
    }
  }

  #requireFolder(task: PlanTask): void {
    const { cwd } = Object(task.spec.input) as { cwd?: unknown }
    if (typeof cwd !== 'string' || !isAbsolute(cwd)) {
      throw refused(
        task,
        'its input has no `cwd` that is an absolute path. Use `run`, which starts in the folder of the plan',
      )
    }
    const real = realPath(cwd)
    const inside = real === undefined ? undefined : relative(this.folder, real)
    if (inside !== undefined && !isAbsolute(inside) && inside.split(sep)[0] !== '..') return
    throw refused(task, `the folder ${cwd} lies outside of the folder for plans. Name one inside it`)
  }
}

function refused({ path }: PlanTask, why: string): ErrandError {
  return new ErrandError('FORBIDDEN', `The task "${path}" of the plan is refused: ${why}.`, { task: path })
}

/** The real path of a folder, which need not exist: that of the nearest one that does, and the rest. Undefined behind a broken link. */
function realPath(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) return undefined
    const above = dirname(path) === path ? undefined : realPath(dirname(path))
    return above === undefined ? undefined : join(above, basename(path))
  }
}

function openFolder(folder: string): string {
  try {
    const real = realpathSync(folder)
    if (statSync(real).isDirectory()) return real
  } catch (error) {
    throw new ErrandError('NOT_FOUND', `There is no folder ${folder} for plans (plans.root).`, { folder }, error)
  }
  throw new ErrandError(
    'NOT_FOUND',
    `${folder} is not a folder (plans.root): name the folder in which the commands of plans start.`,
    {
      folder,
    },
  )
}
