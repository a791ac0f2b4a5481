// What a task prints: a log that follows its end, and the last lines beside an error.

import { useState } from 'preact/hooks'
import { type OutputBlock, type OutputLine, outputBlocks } from '../model/output.ts'
import { useFollowedEnd } from './elements.tsx'

const maxLines = 500

export function OutputLog({ lines }: { lines: readonly OutputLine[] }) {
  const [limit, setLimit] = useState(maxLines)
  const box = useFollowedEnd()
  const hidden = Math.max(0, lines.length - limit)
  const severalAttempts = lines[0]?.attempt !== lines.at(-1)?.attempt
  let attempt = 0
  const isNext = (block: OutputBlock) => severalAttempts && block.attempt !== attempt
  return (
    <div class="output" role="log" aria-label="Output" aria-live="off" tabIndex={0} {...box}>
      {hidden === 0 ? null : (
        <button type="button" onClick={() => setLimit(limit + maxLines)}>
          Show earlier ({hidden.toLocaleString('en')} lines)
        </button>
      )}
      {outputBlocks(lines.slice(hidden), hidden).map((block) => {
        const heading = isNext(block) ? <h3>Attempt {block.attempt}</h3> : null
        attempt = block.attempt
        return (
          <div key={block.first}>
            {heading}
            <BlockText block={block} />
          </div>
        )
      })}
    </div>
  )
}

/** The last lines of a failed attempt. */
export function LastOutput({ lines }: { lines: readonly OutputLine[] }) {
  const box = useFollowedEnd()
  if (lines.length === 0) return null
  return (
    <div class="output last-output" role="group" aria-label="Last output" tabIndex={0} {...box}>
      {outputBlocks(lines).map((block) => (
        <BlockText key={block.first} block={block} />
      ))}
    </div>
  )
}

/** The style sheet names the stream of a block of stderr, so that the name is not copied with the text. */
function BlockText({ block: { stream, text } }: { block: OutputBlock }) {
  return <pre class={`output-block is-${stream}`}>{text}</pre>
}
