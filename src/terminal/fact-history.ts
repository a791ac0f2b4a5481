// Why a fact is as it is, told as a story: what was observed, what each run made of it, from where it was carried, the oldest first.
import { isoTime } from '../core/clock.ts'
import type { DecisionView, FactView, MentionView, ObservationView } from '../memory/fact-view.ts'
import type { FactHistory, FactWhy } from '../memory/why-fact.ts'
import { certainty, shortFactId, sourcesText } from './memory-text.ts'
import { cleanLine } from './terminal-text.ts'

interface Chapter {
  at: number
  branch: string
  text: string
}

/** Lines of clean text. */
export function factHistoryLines(why: FactWhy): string[] {
  const { fact, observations, decisions, mentions, moreDecisions, moreMentions, sources, others, successor } = why
  // What lies deepest happened first, where the clock does not tell.
  const stories: FactHistory[] = [...sources.toReversed(), { fact, observations, decisions }]
  const known = new Map([...others, ...stories.map((each) => each.fact)].map((each) => [each.id, each]))
  const chapters = [
    ...observationChapters(stories),
    ...stories.flatMap((story) => decisionChapters(story, known)),
    ...mentionChapters(fact, mentions, known),
  ]
  const ordered = chapters.toSorted((a, b) => a.at - b.at)
  const width = Math.max(0, ...ordered.map(({ branch }) => branch.length))
  return [
    `${fact.id}: ${cleanLine(fact.text)}`,
    `  ${[certainty(fact), fact.category, `on ${cleanLine(fact.branch)}`, ...(fact.agentId === undefined ? [] : [`said first by ${cleanLine(fact.agentId)}`])].join(', ')}`,
    `  stated by ${sourcesText(fact.statedBy)}`,
    '',
    ...ordered.map(({ at, branch, text }) => `${isoTime(at)}  ${branch.padEnd(width)}  ${text}`),
    ...(chapters.length === 0 ? ['It was stated, and nothing has been made of it since.'] : []),
    ...(moreDecisions === true
      ? ['', `Of what was decided about it only the latest ${decisions.length} decisions are told.`]
      : []),
    ...(moreMentions === true
      ? ['', `Of what was decided because of it only the latest ${mentions.length} are told.`]
      : []),
    ...against(why, known),
    ...(successor === undefined ? [] : ['', `Now said by ${named(successor)}: ${cleanLine(successor.text)}`]),
  ]
}

/** One that several stories tell of is told once, where it was made. */
function observationChapters(stories: readonly FactHistory[]): Chapter[] {
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
  { fact, observations, decisions }: FactHistory,
  known: ReadonlyMap<string, FactView>,
): Chapter[] {
  return decisions.map((decision) => {
    const { at, otherId, observationId } = decision
    const other = otherId === undefined ? '' : named(known.get(otherId) ?? { id: otherId }, fact.branch)
    const seen = observations.find(({ id }) => id === observationId)
    const text = `${shortFactId(fact.id)} ${decided(decision, other, seen === undefined ? '' : noted(seen))}`
    return { at, branch: cleanLine(fact.branch), text }
  })
}

/** What was decided about others because of the fact that is asked about: it is the one that is told of. */
function mentionChapters(
  fact: FactView,
  mentions: readonly MentionView[],
  known: ReadonlyMap<string, FactView>,
): Chapter[] {
  return mentions.map((mention) => {
    const other = known.get(mention.factId) ?? { id: mention.factId }
    const text = `${shortFactId(fact.id)} ${didTo(mention, named(other, fact.branch))}`
    return { at: mention.at, branch: cleanLine(known.get(mention.factId)?.branch ?? fact.branch), text }
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

/** What the fact did to another one, in the words of a sentence that begins with it. */
function didTo({ kind, before, after, similarity, note = '' }: MentionView, other: string): string {
  const alike = similarity === undefined ? '' : `, ${Math.round(similarity * 100)} % alike`
  const why = cleanLine(note)
  switch (kind) {
    case 'boosted':
      return `confirms ${other}: ${share(before)} → ${share(after)}${alike}`
    case 'confirmed':
      return `confirms ${other}, which was certain already${alike}`
    case 'superseded':
      return `takes the place of ${other}, which says the same${alike}`
    case 'summarized':
      return `gives way to ${other}, which sums up anew`
    case 'carried':
      return `is carried over as ${other}: ${share(after)}`
    case 'contradicted':
      return `is contradicted by ${other}, and both stay (${why})`
    case 'settled':
      return `holds against ${other}, which contradicts it (${why})`
    case 'created':
    case 'judged':
      return `is named where ${other} is ${kind}`
  }
}

/** `what ann noted in session s1`. */
function noted({ agentId, sessionId }: ObservationView): string {
  return `what ${agentId === undefined ? 'was noted' : `${cleanLine(agentId)} noted`} in session ${cleanLine(sessionId)}`
}

function share(confidence: number | undefined): string {
  return confidence === undefined ? '?' : confidence.toFixed(2)
}

/** By its short id, and by its branch where that is known and another one than `here`. */
function named(fact: Pick<FactView, 'id'> & Partial<Pick<FactView, 'branch'>>, here?: string): string {
  const where = fact.branch === undefined || fact.branch === here ? '' : ` on ${cleanLine(fact.branch)}`
  return `${shortFactId(fact.id)}${where}`
}

/** What cannot hold beside it and stays: decided when the later of the two came, so it stands with either. */
function against({ decisions, mentions }: FactWhy, known: ReadonlyMap<string, FactView>): string[] {
  const notes = new Map<string, string>()
  for (const { kind, note = '', otherId } of decisions) {
    if (kind === 'contradicted' && otherId !== undefined) notes.set(otherId, note)
  }
  for (const { kind, note = '', factId } of mentions) if (kind === 'contradicted') notes.set(factId, note)
  if (notes.size === 0) return []
  const lines = Array.from(notes, ([id, note]) => {
    const other = known.get(id)
    return `  ${named(other ?? { id })} (${cleanLine(note)})${other === undefined ? '' : `: ${cleanLine(other.text)}`}`
  })
  return ['', 'It is contradicted by:', ...lines]
}
