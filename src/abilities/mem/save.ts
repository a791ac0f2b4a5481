// mem:save: what a task came to, as one fact. An ability of yours under this id takes its place.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import { saveEpisode } from '../../memory/save-episode.ts'
import type { AbilityHost } from '../ability-host.ts'
import { taskIdSchema } from '../task/task-input.ts'
import { keeperHost } from './keeper-host.ts'

/** One fact of the category `episode` for each task: saved again it says the new state. */
export function memSave(host: AbilityHost) {
  return defineAbility({
    id: 'mem:save',
    access: 'create',
    description: 'Keeps in memory what a task was and what it came to.',
    input: z.strictObject({
      task: z.looseObject({ id: taskIdSchema }).describe('The task: its goal or name, its status, its result.'),
      error: z.string().max(100_000).optional().describe('How it failed.'),
    }),
    output: z.object({ factId: z.string() }),
    models: false,
    scope: ({ task }) => [task.id],
    handle: async ({ task, error }, { caller }) => saveEpisode(await keeperHost(host, caller), caller, task, error),
  })
}
