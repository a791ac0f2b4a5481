// The operations of the event feed, one file each. Their registration and their types derive from this list.
import { eventCounts } from './counts.ts'
import { eventFeed } from './feed.ts'
import { eventList } from './list.ts'
import { eventPages } from './pages.ts'

export const eventOperations = [eventCounts, eventFeed, eventList, eventPages] as const
