// How a user names a fact: its id, or any unique beginning of it. And which facts stand against one.
import type { Engine } from '../../api.ts'
import { ErrandError } from '../../errors.ts'
import type { BranchView, FactView } from '../../memory/fact-view.ts'
import type { FactWhy } from '../../memory/why-fact.ts'
import { fromHere } from './board-place.ts'
import type { Contradiction } from './fact-story.ts'

const pageSize = 1_000

/** With all that is known of it. @throws ErrandError NOT_FOUND, or INVALID_INPUT { candidates } when several facts fit. */
export async function findFact(engine: Engine, ref: string): Promise<FactWhy> {
  const named = ref.trim()
  const exact = await whyOf(engine, named)
  if (exact !== undefined) return exact
  const ids = await idsBeginningWith(engine, named)
  const [only] = ids
  if (ids.length === 1 && only !== undefined) return await engine.bus.call('mem:why', { factId: only }, fromHere)
  if (only === undefined)
    throw new ErrandError(
      'NOT_FOUND',
      `There is no fact ${named}. A fact is named by its id or any unique beginning of it; "errand memory" lists them.`,
      { factId: named },
    )
  throw new ErrandError(
    'INVALID_INPUT',
    `Several facts begin with ${named}: ${ids.slice(0, 10).join(', ')}${ids.length > 10 ? ', …' : ''}. Give more of the id.`,
    { factId: named, candidates: ids },
  )
}

/** Undefined where there is no fact of just this id. */
async function whyOf(engine: Engine, factId: string): Promise<FactWhy | undefined> {
  try {
    return await engine.bus.call('mem:why', { factId }, fromHere)
  } catch (error) {
    if (ErrandError.isInstance(error) && error.code === 'NOT_FOUND') return undefined
    throw error
  }
}

/** Facts are not found by the beginnings of their ids, so all are looked at. */
async function idsBeginningWith(engine: Engine, beginning: string): Promise<string[]> {
  const fits = ({ id }: FactView) => id.startsWith(beginning) || id.replace(/^fact-/, '').startsWith(beginning)
  const ids: string[] = []
  for (const { name } of await allBranches(engine)) {
    for (let before: number | undefined; ; ) {
      const page = await engine.bus.call('mem:facts', { branch: name, limit: pageSize, before }, fromHere)
      ids.push(...page.facts.filter(fits).map(({ id }) => id))
      if (page.next === null) break
      before = page.next
    }
  }
  return ids
}

/** By age. */
export async function allBranches(engine: Engine, filter: { taskId?: string } = {}): Promise<BranchView[]> {
  const branches: BranchView[] = []
  for (let after: number | undefined; ; ) {
    const page = await engine.bus.call('mem:branches', { ...filter, limit: pageSize, after }, fromHere)
    branches.push(...page.branches)
    if (page.next === null) return branches
    after = page.next
  }
}

/** More would bury the rest. */
const mostDisputed = 100

/** The facts that cannot hold beside this one. The history tells it of the later of two, so those that are disputed are asked as well. */
export async function contradictionsOf(engine: Engine, { fact, decisions }: FactWhy): Promise<Contradiction[]> {
  const found: Contradiction[] = []
  const add = (other: FactView, at: number, note = '') => {
    if (!found.some((each) => each.other.id === other.id)) found.push({ other, at, note })
  }
  for (const { kind, otherId, at, note } of decisions) {
    if (kind !== 'contradicted' || otherId === undefined) continue
    const other = await whyOf(engine, otherId)
    if (other !== undefined) add(other.fact, at, note)
  }
  if (fact.disputed !== true) return found
  const query = { branch: fact.branch, disputed: true, limit: mostDisputed }
  for (const each of (await engine.bus.call('mem:facts', query, fromHere)).facts) {
    const story = each.id === fact.id ? undefined : await whyOf(engine, each.id)
    for (const { kind, otherId, at, note } of story?.decisions ?? []) {
      if (kind === 'contradicted' && otherId === fact.id) add(each, at, note)
    }
  }
  return found
}
