// The help dialog: keys and state symbols.

import { taskStatuses } from '../model/lifecycle.ts'
import type { TaskStatus } from '../model/wire.ts'
import { actionKeys } from '../state/keyed-actions.ts'
import { Dialog, StateBadge } from './elements.tsx'

const keys: ReadonlyArray<[title: string, keys: ReadonlyArray<[key: string, what: string]>]> = [
  [
    'Everywhere',
    [
      ['/', 'search'],
      ['n', 'create a task'],
      ['Esc', 'close a dialog, clear the selection, leave the search, back to all tasks'],
      ['?', 'this help'],
    ],
  ],
  [
    'The list',
    [
      ['j k ↓ ↑', 'next and previous task'],
      ['→ ←', 'unfold and fold, into and out of a family'],
      ['Home End PgUp PgDn', 'through the list'],
      ['Enter', 'open the task'],
      ['x Space', 'select the task, or remove it from the selection'],
      ['Shift with ↓ ↑', 'select while moving; Shift and a click select a range'],
      ['Ctrl or Cmd + A', 'select all tasks shown, or none'],
    ],
  ],
  [
    'Selected tasks, the active line, or the opened task',
    [
      [actionKeys.answer, 'answer; in the list also the question that has waited the longest'],
      [actionKeys.pause, 'pause'],
      [actionKeys.resume, 'resume'],
      [actionKeys.retry, 'retry'],
      [actionKeys.cancel, 'cancel'],
    ],
  ],
  [
    'A timeline with the focus',
    [
      ['+ − 0', 'zoom, show all of it'],
      ['Ctrl or Cmd + wheel', 'zoom under the pointer'],
    ],
  ],
]

const meanings: Readonly<Record<TaskStatus, string>> = {
  submitted: 'has not run yet',
  working: 'runs, or is worked on from outside',
  paused: 'paused; resume continues it',
  input_required: 'asks a person and waits for the answer',
  waiting: 'waits for a time or for other tasks',
  completed: 'done, permanently',
  failed: 'did not succeed; retry starts a new attempt',
  canceled: 'canceled, permanently',
}

/** Shown in place of a state. */
const otherWords = {
  blocked: 'submitted, and comes after other tasks',
  queued: 'needs only a slot of an engine, and no action',
  claimable: 'without an executor; waits until an agent or a person claims it',
}

export function HelpDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog label="Help" onClose={onClose} wide>
      <div class="help">
        <div>
          <h2 tabIndex={-1} autofocus>
            Keys
          </h2>
          {keys.map(([title, group]) => (
            <section key={title}>
              <h3>{title}</h3>
              <dl class="keys">
                {group.map(([key, what]) => (
                  <div key={key}>
                    <dt>
                      <kbd>{key}</kbd>
                    </dt>
                    <dd>{what}</dd>
                  </div>
                ))}
              </dl>
            </section>
          ))}
        </div>
        <div>
          <h2>States</h2>
          <dl class="keys">
            {taskStatuses.map((status) => (
              <div key={status}>
                <dt>
                  <StateBadge status={status} />
                </dt>
                <dd>{meanings[status]}</dd>
              </div>
            ))}
            {Object.entries(otherWords).map(([word, meaning]) => (
              <div key={word}>
                <dt>{word}</dt>
                <dd>{meaning}</dd>
              </div>
            ))}
          </dl>
        </div>
      </div>
      <div class="dialog-buttons">
        <button type="button" class="primary" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  )
}
