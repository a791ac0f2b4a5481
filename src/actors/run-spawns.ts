// The children of a live run: created once, with the journal entry that finds them again.

import type { SpawnOptions, SpawnSpec } from '../api/executor.ts'
import { spawnOptionsSchema } from '../api/options.ts'
import { canonicalJson, fromJson, toJson } from '../core/json.ts'
import type { TaskDraft } from '../drafts/draft.ts'
import type { Task } from '../entities/task.ts'
import { storedFrom } from '../entities/task-fields.ts'
import { isAnotherWay } from '../machines/divergence.ts'
import type { CreateRequest } from '../steps/create.ts'
import { spawn } from '../steps/spawn.ts'
import { loadTasks } from '../steps/step-context.ts'
import type { EntryDescription } from './call-scope.ts'
import { checkOptions } from './run-arguments.ts'
import type { RunCore } from './run-core.ts'

export async function spawnInRun(
  core: RunCore,
  specs: SpawnSpec | SpawnSpec[],
  options: SpawnOptions | undefined,
): Promise<Task | Task[]> {
  const { key, divergence } = checkOptions(spawnOptionsSchema, options, 'run.spawn')
  const list = Array.isArray(specs) ? specs : [specs]
  const trees = core.host.draft(list, core.taskId)
  const images = trees.map((tree) => tree.map(imageOf))
  const entry = core.describe('spawn', 'spawn', fromJson(toJson(images, 'the tasks to spawn')), key)
  const children = await makeChildren(core, entry, trees, divergence)
  return Array.isArray(specs) ? children : (children[0] as Task)
}

/** Stored fields that stand in the identity of every spawn, said or not: journals of earlier versions hold them so. */
const alwaysNamed = 'name goal description executor input priority metadata deadline notBefore key role tags'.split(' ')
const unsaid: Readonly<Record<string, unknown>> = { ...storedFrom({}) }

/** What a child is found again by. A stored field that tasks got later stands in it only where it is said. */
function imageOf(given: TaskDraft): object {
  const { id: _id, parentId: _parent, opening: _opening, runsCommands: _here, blockedBy, ...draft } = given
  const isSaid = ([name, value]: [string, unknown]): boolean =>
    !(name in unsaid) || alwaysNamed.includes(name) || canonicalJson(value) !== canonicalJson(unsaid[name])
  return { ...Object.fromEntries(Object.entries(draft).filter(isSaid)), after: blockedBy.length }
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
    const children = await core.step(spawn(core.entryOf(entry), request, earlier, left))
    // One was canceled, and another was made in its place: what came of the first may have led the earlier attempt elsewhere.
    const result = children.map((child) => child.id)
    if (found !== undefined && isAnotherWay(found, { result })) core.journal.remade(found)
    return host.views(children)
  })
}

async function childrenOf(core: RunCore, ids: readonly string[]): Promise<Task[]> {
  return core.host.views(await core.host.read((tx) => loadTasks(tx, ids)))
}
