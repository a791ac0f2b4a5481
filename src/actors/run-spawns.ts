// The children of a live run: created once, together with the journal entry by which later runs find them.

import { canonicalJson, fromJson, toJson } from '../core/json.ts'
import type { SpawnOptions } from '../entities/executor.ts'
import { spawnOptionsSchema } from '../entities/options.ts'
import type { Task } from '../entities/task.ts'
import { storedFrom } from '../entities/task-fields.ts'
import { isAnotherWay } from '../machines/divergence.ts'
import type { TaskDraft } from '../operations/drafts/draft.ts'
import type { CreateRequest } from '../operations/steps/create.ts'
import { spawn } from '../operations/steps/spawn.ts'
import { loadTasks } from '../operations/steps/step-context.ts'
import type { EntryDescription } from './call-scope.ts'
import { checkOptions } from './run-arguments.ts'
import type { RunCore } from './run-core.ts'

export async function spawnInRun(
  core: RunCore,
  specs: unknown,
  options: SpawnOptions | undefined,
): Promise<Task | Task[]> {
  const { key, divergence } = checkOptions(spawnOptionsSchema, options, 'run.spawn')
  const list: readonly unknown[] = Array.isArray(specs) ? specs : [specs]
  const trees = core.host.draft(list, core.taskId)
  const images = trees.map((tree) => tree.map(imageOf))
  const entry = core.describe('spawn', 'spawn', fromJson(toJson(images, 'the tasks to spawn')), key)
  const children = await makeChildren(core, entry, trees, divergence)
  return Array.isArray(specs) ? children : (children[0] as Task)
}

const defaults: Readonly<Record<string, unknown>> = { ...storedFrom({}), delayMs: 0 }

/**
 * The identity of a child in the journal. A field at its default is left out, so that a new field changes no recorded identity; so is what
 * does not come from the function: the handlers of the program, and the span in which a run spawns.
 */
function imageOf(given: TaskDraft): object {
  const { id: _id, parentId: _parent, opening: _opening, runsCommands: _here, blockedBy, ...draft } = given
  const { handlers = {}, traceparent: _span, ...policy } = draft.policy
  const own = Object.entries(handlers as Record<string, TaskDraft>).filter(([, { byProgram }]) => !byProgram)
  const handled = Object.fromEntries(own.map(([event, handler]) => [event, imageOf(handler)]))
  const isIncluded = ([name, value]: [string, unknown]): boolean =>
    !(name in defaults) || canonicalJson(value) !== canonicalJson(defaults[name])
  return {
    ...Object.fromEntries(Object.entries(draft).filter(isIncluded)),
    policy: own.length === 0 ? policy : { ...policy, handlers: handled },
    after: blockedBy.length,
  }
}

async function makeChildren(
  core: RunCore,
  entry: EntryDescription,
  trees: CreateRequest['trees'],
  divergence: SpawnOptions['divergence'],
): Promise<Task[]> {
  const { host } = core
  const found = core.find(entry)
  const earlier = found?.status === 'completed' ? (found.result as string[]) : []
  if (found?.status === 'completed' && found.attempt === core.attempt) return core.busy(() => childrenOf(core, earlier))
  const left = found === undefined ? await core.divergence.pass(entry, 'fail', divergence) : []
  return core.busy(async () => {
    const { treeLimits } = host
    const request: CreateRequest = { ...host.stepContext(), trees, treeLimits }
    const creation = core.step(spawn(core.entryOf(entry), request, earlier, left))
    host.admitWithCreation(creation, trees, core.taskId)
    const children = await creation
    // A canceled child was replaced by a new one: its outcome may have led the earlier attempt to other calls.
    const result = children.map((child) => child.id)
    if (found !== undefined && isAnotherWay(found, { result })) core.journal.remade(found)
    return host.views(children)
  })
}

async function childrenOf(core: RunCore, ids: readonly string[]): Promise<Task[]> {
  return core.host.views(await core.host.read((tx) => loadTasks(tx, ids)))
}
