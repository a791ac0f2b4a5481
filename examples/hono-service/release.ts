// The executor of a release.
import { defineExecutor } from 'errand'
import { z } from 'zod'

/** Builds, waits for the approval of a person, and publishes: each step once, even if the process is restarted in between. */
export const release = defineExecutor({
  input: z.strictObject({ version: z.string().regex(/^\d+\.\d+\.\d+$/) }),
  result: z.object({ version: z.string(), published: z.boolean() }),
  run: async ({ input: { version } }, run) => {
    await run.call('build', { version }, () => `app-${version}.tgz`)
    await run.progress(0.5, 'built')
    const published = await run.ask<boolean>(`Publish ${version}?`, { type: 'boolean' })
    if (published) await run.call('publish', { version }, () => `https://example.org/app-${version}.tgz`)
    return { version, published }
  },
})
