// `errand hook`: what a coding agent calls when one of its sessions begins or ends.
import { misuse } from '../../../terminal/arguments.ts'
import { taskVariables } from '../hook-call.ts'
import { defineVerb, verbTable } from '../verb.ts'

const hookVerbs = verbTable({
  'session-start': {
    summary: 'tells a new session of its task, or of the board',
    load: () => import('./hook/sessions.ts'),
  },
  'session-end': { summary: 'notes on its task that a session has ended', load: () => import('./hook/sessions.ts') },
  install: { summary: 'the settings that make a coding agent call these', load: () => import('./hook/install.ts') },
})

export const hook = defineVerb({
  usage: `hook ${Object.keys(hookVerbs).join('|')}`,
  help: `For the hooks of coding agents. The task of a session is the one that ${taskVariables.join(', ')} name, the first that there is. session-start and session-end always exit with 0 and never make a ledger; what went wrong they say only with ERRAND_DEBUG=1.`,
  positionals: { max: 0 },
  verbs: hookVerbs,
  async run() {
    throw misuse(`Say which hook: ${Object.keys(hookVerbs).join(', ')}. "errand help hook" says more.`)
  },
})
