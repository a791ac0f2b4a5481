// Segments of branch names, made from the name of a task or the id of an agent.

import { startOf } from '../core/storable-text.ts'

const maxSegmentLength = 60

/**
 * A name as a segment of a branch name: lower case, words joined by single hyphens, at most 60 characters. Accents are removed, and so is
 * every character other than a to z, digits, spaces, underscores and hyphens. The result may be empty, and the same for several names:
 * the caller makes it unique.
 *
 * @example
 * slugOf('Fix OAuth2 Bug') // 'fix-oauth2-bug'
 */
export function slugOf(name: string): string {
  const hyphened = withoutAccents(name)
    .toLowerCase()
    .replace(/[^a-z0-9\s_-]+/g, '')
    .replace(/[\s_-]+/g, '-')
    .replace(/^-/, '')
  return cutToSegment(hyphened)
}

/**
 * An agent's id as a segment of a branch name: letters a to z of either case, digits, `.`, `_` and `-` stay, any other character becomes
 * a hyphen. At most 60 characters, never empty: `agent` when nothing is left. The result may be the same for different ids.
 *
 * @example
 * safeSegment('a/b c') // 'a-b-c'
 */
export function safeSegment(agentId: string): string {
  const safe = withoutAccents(agentId)
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[.-]+/, '')
  return cutToSegment(safe) || 'agent'
}

/** Marks are removed before the normalization too, which would take minutes to sort thousands of them on one letter. */
function withoutAccents(text: string): string {
  return text.replace(marks, '').normalize('NFKD').replace(marks, '')
}

const marks = /\p{M}+/gu

function cutToSegment(text: string): string {
  return startOf(text, maxSegmentLength).replace(/-+$/, '')
}
