// mem:merge: a branch gives what it knows to a branch above it.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import { merge } from '../../memory/consolidate.ts'
import type { AbilityHost } from '../ability-host.ts'
import { eitherCase } from '../either-case.ts'
import { mergeShape } from '../views/team-view.ts'
import { branchSchema } from './mem-input.ts'

const inputSchema = z.strictObject({
  branch: branchSchema.describe('The branch that gives.'),
  into: branchSchema.optional().describe('A branch above it. Default: the one directly above.'),
  only: z
    .enum(['all', 'durable'])
    .default('all')
    .describe('durable: what a checkpoint of its task has found so. Default all; then the branch is merged.'),
})

/** What was observed on it and not consolidated yet becomes facts before. What was carried once is not carried again. */
export function memMerge(host: AbilityHost) {
  return defineAbility({
    id: 'mem:merge',
    access: 'control',
    description:
      'Merges a branch of memory into one above it: what is known there becomes surer, the rest is carried over.',
    input: eitherCase(inputSchema),
    output: z.object(mergeShape),
    models: false,
    handle: (request, { caller }) => merge(host, caller, request),
  })
}
