"""What several stages read: vectors of shards, a query's vector, the reference, a method's arrays."""
