// Why a fact is as it is, told as a story: what was observed, what each run made of it, from where it was carried, the oldest first.
import { isoTime } from '../../clock.ts'
import type { DecisionView, FactView, ObservationView } from '../../memory/fact-view.ts'
import type { FactStory, FactWhy } from '../../memory/why-fact.ts'
import { certainty, shortFactId } from './memory-text.ts'
import { cleanLine } from './terminal-text.ts'

/** A fact that cannot hold beside the one that is asked about, with the decision that says so. */
export interface Contradiction {
  other: FactView
  at: number
  note: string
}

interface Chapter {
  at: number
  branch: string
  text: string
}

/** Lines of clean text. */
export function storyLines(
  { fact, observations, decisions, sources, successor }: FactWhy,
  contradictions: readonly Contradiction[],
): string[] {
  // What lies deepest happened first, where the clock does not tell.
  const stories: FactStory[] = [...sources.toReversed(), { fact, observations, decisions }]
  const known = new Map(stories.map((each) => [each.fact.id, each.fact]))
  for (const { other } of contradictions) known.set(other.id, other)
  const chapters = [...observationChapters(stories), ...stories.flatMap((story) => decisionChapters(story, known))]
  const ordered = chapters.toSorted((a, b) => a.at - b.at)
  const width = Math.max(0, ...ordered.map(({ branch }) => branch.length))
  return [
    `${fact.id}: ${cleanLine(fact.text)}`,
    `  ${[certainty(fact), fact.category, `on ${cleanLine(fact.branch)}`, ...(fact.agentId === undefined ? [] : [`said first by ${cleanLine(fact.agentId)}`])].join(', ')}`,
    '',
    ...ordered.map(({ at, branch, text }) => `${isoTime(at)}  ${branch.padEnd(width)}  ${text}`),
    ...(chapters.length === 0 ? ['It was stated, and nothing has been made of it since.'] : []),
    ...against(contradictions),
    ...(successor === undefined ? [] : ['', `Now said by ${named(successor)}: ${cleanLine(successor.text)}`]),
  ]
}

/** One that several stories tell of is told once, where it was made. */
function observationChapters(stories: readonly FactStory[]): Chapter[] {
  const met = new Map<string, ObservationView>()
  for (const { observations } of stories) for (const each of observations) met.set(each.id, each)
  return [...met.values()].map(({ createdAt: at, branch, agentId, sessionId, type, content, outcome }) => ({
    at,
    branch: cleanLine(branch),
    text: cleanLine(
      `${agentId === undefined ? 'noted' : `${agentId} noted`} in session ${sessionId}: ${content} (${type}${outcome === undefined ? '' : `, ${outcome}`})`,
    ),
  }))
}

function decisionChapters(
  { fact, observations, decisions }: FactStory,
  known: ReadonlyMap<string, FactView>,
): Chapter[] {
  return decisions.map((decision) => {
    const { at, otherId, observationId } = decision
    const other = otherId === undefined ? '' : named(known.get(otherId) ?? { id: otherId })
    const seen = observations.find(({ id }) => id === observationId)
    const text = `${shortFactId(fact.id)} ${decided(decision, other, seen === undefined ? '' : noted(seen))}`
    return { at, branch: cleanLine(fact.branch), text }
  })
}

/** What became of the fact, in the words of a sentence that begins with it. */
function decided({ kind, before, after, similarity, note = '' }: DecisionView, other: string, seen: string): string {
  const source = other === '' ? seen : other
  const by = source === '' ? '' : ` by ${source}`
  const alike = similarity === undefined ? '' : `, ${Math.round(similarity * 100)} % alike`
  const why = cleanLine(note)
  switch (kind) {
    case 'created':
      return `is made of ${seen === '' ? 'an observation' : seen}: ${why}, ${share(after)}`
    case 'boosted':
      return `is confirmed${by}: ${share(before)} → ${share(after)}${alike}`
    case 'confirmed':
      return `is confirmed${by}, and was certain already${alike}`
    case 'superseded':
      return `gives way to ${other}, which says the same${alike}`
    case 'summarized':
      return `sums up what its agent found${other === '' ? '' : `, in place of ${other}`}`
    case 'carried':
      return `is carried over from ${other}: ${share(after)}`
    case 'judged':
      return `is found ${why}`
    case 'contradicted':
      return `contradicts ${other}, and both stay (${why})`
    case 'settled':
      return `gives way to ${other}, which contradicts it (${why})`
  }
}

/** `what ann noted in session s1`. */
function noted({ agentId, sessionId }: ObservationView): string {
  return `what ${agentId === undefined ? 'was noted' : `${cleanLine(agentId)} noted`} in session ${cleanLine(sessionId)}`
}

function share(confidence: number | undefined): string {
  return confidence === undefined ? '?' : confidence.toFixed(2)
}

/** By its short id, and where it is known, what it says. */
function named(fact: Pick<FactView, 'id'> & Partial<Pick<FactView, 'text' | 'branch'>>): string {
  const where = fact.branch === undefined ? '' : ` on ${cleanLine(fact.branch)}`
  return `${shortFactId(fact.id)}${where}`
}

function against(contradictions: readonly Contradiction[]): string[] {
  if (contradictions.length === 0) return []
  const lines = contradictions.map(
    ({ other, note }) => `  ${named(other)} (${cleanLine(note)}): ${cleanLine(other.text)}`,
  )
  return ['', 'It is contradicted by:', ...lines]
}
